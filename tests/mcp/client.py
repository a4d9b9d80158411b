#!/usr/bin/env python3
"""Drives `aizo mcp` with the official Python SDK: lists, calls every tool, errors, cancellation, and two servers beside ten
command lines on one store.

    python3 -m venv target/mcp-client && target/mcp-client/bin/pip install 'mcp>=2.3,<3'
    target/mcp-client/bin/python tests/mcp/client.py target/release/aizo
"""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters

TOOLS = {
    "preference_context": {"task": "fix the login bug", "scenario": "coding"},
    "preference_recall": {"query": "code"},
    "preference_add": {"item": "tabs", "quote": "I like tabs", "score": 7.5, "keywords": ["indent"]},
    "preference_apply": {"ids": [1, 99]},
    "preference_check": {"command": "git push -f origin main"},
    "preference_update": {"item": "tabs", "score": 8},
    "preference_why": {"item": "tabs"},
    "preference_remove": {"item": "tabs"},
}
WRITERS = 10
WRITES = 10


class Home:
    """An empty home folder, and the program in it."""

    def __init__(self, program: Path, folder: str) -> None:
        self.program = program
        self.folder = Path(folder)
        self.store = self.folder / ".aizo" / "preferences.db"
        self.environment = {"HOME": folder, "AIZO_HOME": str(self.store.parent), "PATH": os.environ["PATH"]}

    def client(self, mode: str = "auto", **environment: str) -> Client:
        server = StdioServerParameters(
            command=str(self.program),
            args=["mcp"],
            env=self.environment | environment,
            cwd=self.folder,
        )
        return Client(server, mode=mode)

    def run(self, *arguments: str) -> str:
        command = [str(self.program), *arguments]
        ended = subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, (arguments, ended)
        return ended.stdout


def fill(home: Home) -> None:
    home.run("add", "concise code", "asked twice", "--scenarios", "coding")
    home.run("add", "force-push to main", "never again", "--score", "0.5", "--pattern", "@force-push")


async def structured(client: Client, tool: str, arguments: dict) -> dict:
    """The answer of a call that succeeds. The SDK itself holds it against the schema of the tool."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, result)
    assert json.loads(result.content[0].text) == result.structured_content, tool
    return result.structured_content


async def everything(home: Home, mode: str, version: str) -> None:
    """Lists what there is, calls every tool, and reads every resource and the prompt."""
    async with home.client(mode) as client:
        assert client.protocol_version == version, (mode, client.protocol_version)
        assert client.server_info.name == "aizo"
        assert "preference_context" in client.instructions
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == set(TOOLS)
        for tool in listed:
            hints = tool.annotations
            assert None not in (
                hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint
            ), tool.name
            assert tool.output_schema, tool.name
        for tool, arguments in TOOLS.items():
            await structured(client, tool, arguments)
        for resource in (await client.list_resources()).resources:
            read = await client.read_resource(str(resource.uri))
            assert "entries" in json.loads(read.contents[0].text), resource.uri
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "aizo://scenario/{name}"
        prompts = (await client.list_prompts()).prompts
        prompt = await client.get_prompt(prompts[0].name, {"task": "fix the login bug"})
        assert "concise code" in prompt.messages[0].content.text


async def errors(home: Home) -> None:
    """What goes wrong is told, and ends nothing."""
    async with home.client() as client:
        for tool, arguments in [
            ("preference_update", {"item": "force-push to main", "score": 9}),
            ("preference_remove", {"item": "force-push to main"}),
            ("preference_why", {"item": "nothing like it"}),
            ("preference_add", {"item": "a", "reason": "b", "score": "high"}),
        ]:
            result = await client.call_tool(tool, arguments)
            assert result.is_error and "hint: " in result.content[0].text, (tool, result)
        for call in (client.call_tool("preference_nothing", {}), client.read_resource("aizo://nothing")):
            try:
                await call
            except MCPError:
                continue
            raise AssertionError("it was answered")
        await structured(client, "preference_recall", {"query": "code"})


async def cancellation(home: Home) -> None:
    """A call that nobody waits for any longer disturbs no other."""
    async with home.client(AIZO_LOCK_TIMEOUT_MS="2000") as client:
        holder = sqlite3.connect(home.store)
        holder.execute("BEGIN IMMEDIATE")
        try:
            call = client.call_tool("preference_add", {"item": "coffee", "reason": "drinks it"})
            await asyncio.wait_for(call, 0.3)
            raise AssertionError("the lock was not held")
        except TimeoutError:
            pass
        found = await structured(client, "preference_recall", {"query": "code"})
        assert found["entries"]
        holder.rollback()
        holder.close()
        added = await structured(client, "preference_add", {"item": "tea", "reason": "drinks it"})
        assert added["result"] == "added", added


async def crowd(home: Home) -> None:
    """Two servers and ten command lines write into one store at once; nothing is lost."""

    async def serve(name: str) -> None:
        async with home.client() as client:
            calls = [
                structured(client, "preference_add", {"item": f"{name} {number}", "reason": "raced"})
                for number in range(WRITES)
            ]
            for added in await asyncio.gather(*calls):
                assert added["result"] == "added", added

    def write(name: str) -> None:
        for number in range(WRITES):
            home.run("add", f"{name} {number}", "raced")

    await asyncio.gather(
        serve("first server"),
        serve("second server"),
        *(asyncio.to_thread(write, f"writer {number}") for number in range(WRITERS)),
    )
    raced = [entry for entry in json.loads(home.run("show", "--json")) if entry["reason"] == "raced"]
    assert len(raced) == (WRITERS + 2) * WRITES, len(raced)
    with sqlite3.connect(home.store) as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def main() -> None:
    program = Path(sys.argv[1]).resolve()
    for name, step in {
        "the newest revision": lambda home: everything(home, "auto", "2026-07-28"),
        "the handshake": lambda home: everything(home, "legacy", "2025-11-25"),
        "errors": errors,
        "cancellation": cancellation,
        "a crowd": crowd,
    }.items():
        with tempfile.TemporaryDirectory() as folder:
            home = Home(program, folder)
            fill(home)
            await asyncio.wait_for(step(home), 120)
        print(f"{name}: as expected")


if __name__ == "__main__":
    asyncio.run(main())
