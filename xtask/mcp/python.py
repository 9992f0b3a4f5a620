"""Asks a server through the Python SDK and prints what came back.

python.py REQUESTS stdio PROGRAM ARGUMENT…
python.py REQUESTS http URL TOKEN

REQUESTS is a JSON list of {"method", "params"}. The answer is {"protocol", "answers"}. Nothing is judged here, but
the SDK itself refuses structured content that does not fit the schema of its tool.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


def transport(kind, where, rest):
    if kind == "stdio":
        return stdio_client(StdioServerParameters(command=where, args=rest))
    headers = {"Authorization": f"Bearer {rest[0]}"}
    return streamable_http_client(where, http_client=httpx2.AsyncClient(headers=headers))


async def ask(client, method, params):
    match method:
        case "tools/list":
            return await client.list_tools()
        case "tools/call":
            return await client.call_tool(params["name"], params["arguments"])
        case "resources/list":
            return await client.list_resources()
        case "resources/read":
            return await client.read_resource(params["uri"])
        case "prompts/list":
            return await client.list_prompts()
        case "prompts/get":
            return await client.get_prompt(params["name"], params["arguments"])
    raise SystemExit(f"no way to ask for {method}")


async def main():
    requests, kind, where, *rest = sys.argv[1:]
    answers = []
    async with Client(transport(kind, where, rest)) as client:
        for request in json.loads(requests):
            answer = await ask(client, request["method"], request["params"])
            answers.append(answer.model_dump(mode="json", by_alias=True, exclude_none=True))
        protocol = client.protocol_version
    print(json.dumps({"protocol": protocol, "answers": answers}))


asyncio.run(main())
