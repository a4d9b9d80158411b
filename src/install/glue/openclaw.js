
const begun = new Set();

export default {
  id: "aizo",
  name: "aizo",
  register(api) {
    api.on("before_prompt_build", async (event, ctx) => {
      const session = ctx?.sessionId ?? ctx?.sessionKey ?? "";
      const lines = [];
      if (!begun.has(session)) {
        begun.add(session);
        lines.push((await ask("session-start", { session_id: session })).context);
      }
      lines.push((await ask("prompt", { session_id: session, prompt: event?.prompt })).context);
      const context = lines.filter(Boolean).join("\n\n");
      return context ? { prependContext: context } : undefined;
    });
    api.on("before_tool_call", async (event, ctx) => {
      const session = ctx?.sessionId ?? ctx?.sessionKey ?? "";
      const reply = await ask("pre-tool", { session_id: session, tool: event?.toolName, params: event?.params });
      if (reply.deny) return { block: true, blockReason: reply.deny };
      if (reply.ask) {
        const title = "This may break a hard limit";
        return { requireApproval: { title, description: reply.ask, severity: "warning", timeoutMs: 120000 } };
      }
      return undefined;
    });
    api.on("agent_end", async (_event, ctx) => {
      await ask("stop", { session_id: ctx?.sessionId ?? ctx?.sessionKey ?? "" });
    });
  },
};
