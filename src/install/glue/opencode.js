
// What was said in each conversation, to be told again with every request.
const told = new Map();

async function beginning(session) {
  if (!told.has(session)) {
    told.set(session, []);
    const { context } = await ask("session-start", { session_id: session });
    if (context) told.get(session)?.unshift(context);
  }
  return told.get(session) ?? [];
}

async function allowed(session, tool, args) {
  const reply = await ask("pre-tool", { session_id: session, tool, args });
  if (reply.deny) throw new Error(reply.deny);
  return reply;
}

// OpenCode 1.x calls this.
async function aizo() {
  let latest = "";
  return {
    "chat.message": async (input, output) => {
      const session = input?.sessionID ?? output?.message?.sessionID ?? "";
      latest = session;
      const parts = output?.parts ?? [];
      const prompt = parts
        .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
        .map((part) => part.text)
        .join("\n");
      const lines = await beginning(session);
      const { context } = prompt ? await ask("prompt", { session_id: session, prompt }) : {};
      if (context) lines.push(context);
    },
    "experimental.chat.system.transform": async (input, output) => {
      const lines = await beginning(input?.sessionID ?? latest);
      if (lines.length) output?.system?.push(lines.join("\n\n"));
    },
    "tool.execute.before": async (input, output) => {
      await allowed(input?.sessionID, input?.tool, output?.args);
    },
    event: async ({ event }) => {
      const session = event?.properties?.sessionID;
      if (event?.type === "session.compacted") told.delete(session);
      if (event?.type === "session.idle") await ask("stop", { session_id: session });
    },
  };
}

// OpenCode 2.x looks for these two.
aizo.id = "aizo";
aizo.setup = (ctx) => {
  const attempt = (step) => {
    try {
      step();
    } catch {}
  };
  attempt(() =>
    ctx.session.hook("context", async (e) => {
      const lines = await beginning(e?.sessionID ?? "");
      if (lines.length) e.system.push({ type: "text", text: lines.join("\n\n") });
    }),
  );
  attempt(() => ctx.tool.hook("execute.before", (e) => allowed(e?.sessionID, e?.tool, e?.input)));
  attempt(() =>
    ctx.event.subscribe((e) => {
      if (e?.type === "session.execution.succeeded") ask("stop", { session_id: e?.properties?.sessionID });
    }),
  );
};

export default aizo;
