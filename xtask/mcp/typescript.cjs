// Asks a server through the TypeScript SDK and prints what came back.
//
// typescript.cjs REQUESTS stdio PROGRAM ARGUMENT…
// typescript.cjs REQUESTS http URL TOKEN
//
// REQUESTS is a JSON list of {"method", "params"}. The answer is {"protocol", "answers"}. Nothing is judged here, but
// the SDK itself refuses structured content that does not fit the schema of its tool.
//
// CommonJS, because only that finds packages through NODE_PATH: this file does not lie beside them.

const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const WAYS = {
  "tools/list": (client) => client.listTools(),
  "tools/call": (client, params) => client.callTool(params),
  "resources/list": (client) => client.listResources(),
  "resources/read": (client, params) => client.readResource(params),
  "prompts/list": (client) => client.listPrompts(),
  "prompts/get": (client, params) => client.getPrompt(params),
};

function transport(kind, where, rest) {
  if (kind === "stdio") {
    return new StdioClientTransport({ command: where, args: rest });
  }
  const headers = { Authorization: `Bearer ${rest[0]}` };
  return new StreamableHTTPClientTransport(new URL(where), { requestInit: { headers } });
}

async function main([requests, kind, where, ...rest]) {
  const client = new Client({ name: "driver", version: "1.0.0" });
  const connection = transport(kind, where, rest);
  let protocol;
  connection.setProtocolVersion = ((set) => (version) => {
    protocol = version;
    set?.call(connection, version);
  })(connection.setProtocolVersion);
  await client.connect(connection);
  const answers = [];
  for (const { method, params } of JSON.parse(requests)) {
    answers.push(await WAYS[method](client, params));
  }
  await client.close();
  console.log(JSON.stringify({ protocol, answers }));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
