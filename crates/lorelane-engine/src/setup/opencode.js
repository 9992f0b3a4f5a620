// Installed by `lorelane setup opencode`; `lorelane setup --remove opencode` takes it away.
//
// Asks lorelane for reminders when a prompt comes and before a tool writes. Whatever goes wrong here is swallowed:
// a memory must never stop the work.
import { spawn } from "node:child_process"

const PROGRAM = "lorelane"
const WAIT_MS = 2000

/** Runs one hook with its payload and returns its answer, or nothing. */
function ask(event, payload, cwd) {
  return new Promise((resolve) => {
    let out = ""
    const done = (answer) => resolve(answer ?? {})
    try {
      const child = spawn(PROGRAM, ["hook", event, "--client", "opencode"], {
        cwd,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: WAIT_MS,
      })
      child.on("error", () => done())
      child.stdin.on("error", () => {})
      child.stdout.on("data", (piece) => (out += piece))
      child.on("close", () => {
        try {
          done(JSON.parse(out).hookSpecificOutput)
        } catch {
          done()
        }
      })
      child.stdin.end(JSON.stringify({ hook_event_name: event, cwd, ...payload }) + "\n")
    } catch {
      done()
    }
  })
}

export const Lorelane = async ({ directory }) => {
  // The standing context of each session. It is not part of the conversation, so every request gets it.
  const sessions = new Map()
  // The last prompt of each session: what the user said is captured when the agent has answered.
  const prompts = new Map()

  return {
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      if (!sessions.has(session)) {
        const start = await ask("session-start", { session_id: session, source: "startup" }, directory)
        sessions.set(session, start.additionalContext)
      }
      const prompt = typed.map((part) => part.text).join("\n")
      prompts.set(session, prompt)
      const { additionalContext } = await ask("prompt", { session_id: session, prompt }, directory)
      // A part of the message stays in the conversation, also when the session goes on in another process: a session is
      // reminded of a memory once. Parts are ordered by id.
      const last = typed.at(-1)
      if (additionalContext && last)
        output.parts.push({ ...last, id: `${last.id}r`, text: additionalContext, synthetic: true })
    },

    "experimental.chat.system.transform": async (input, output) => {
      const standing = sessions.get(input.sessionID)
      if (standing) output.system.push(standing)
    },

    "tool.execute.before": async (input, output) => {
      const payload = { session_id: input.sessionID, tool_name: input.tool, tool_input: output.args }
      const answer = await ask("before-tool", payload, directory)
      // An error is how opencode lets a plugin refuse a tool; the model reads its text.
      if (answer.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason ?? "denied by lorelane")
    },

    "tool.execute.after": async (input, output) => {
      const payload = { session_id: input.sessionID, tool_name: input.tool, tool_input: input.args }
      if (output.metadata?.exit) payload.error = output.output
      const answer = await ask("after-tool", payload, directory)
      if (answer.additionalContext) output.output += "\n\n" + answer.additionalContext
    },

    // At the end of a turn it is too late: `opencode run` does not wait for its plugins.
    "experimental.text.complete": async (input, output) => {
      const session = input.sessionID
      const payload = { session_id: session, prompt: prompts.get(session), last_assistant_message: output.text }
      await ask("stop", payload, directory)
    },

    event: async ({ event }) => {
      if (event.type !== "session.deleted") return
      const session = event.properties?.info?.id ?? event.properties?.sessionID
      sessions.delete(session)
      prompts.delete(session)
      await ask("session-end", { session_id: session, reason: "other" }, directory)
    },
  }
}
