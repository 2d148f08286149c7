// What a client of the AI SDK makes of a stream: validates every chunk and reads them as `useChat` does.
// In: a JSON list of chunks. Out: {"problems": [{"chunk", "problem"}], "parts": [...]}.
import { readUIMessageStream, uiMessageChunkSchema } from "ai";
import { readFileSync } from "node:fs";

const chunks = JSON.parse(readFileSync(0, "utf8"));
const schema = typeof uiMessageChunkSchema === "function" ? uiMessageChunkSchema() : uiMessageChunkSchema;
const problems = [];
for (const chunk of chunks) {
  const checked = await schema.validate(chunk);
  if (!checked.success) problems.push({ chunk, problem: String(checked.error).slice(0, 500) });
}
const stream = new ReadableStream({
  start(controller) {
    for (const chunk of chunks) controller.enqueue(chunk);
    controller.close();
  },
});
let parts = [];
for await (const message of readUIMessageStream({ stream, onError: (error) => problems.push({ problem: String(error) }) })) {
  parts = message.parts;
}
console.log(JSON.stringify({ problems, parts }));
