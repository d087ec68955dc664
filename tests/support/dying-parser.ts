/** A parser that gets the signal that an upload names, once it has read it; it answers others as the real one does. */

import { decodeFrames, encodeFrame } from '../../src/frames.ts';
import { parseUpload } from '../../src/ingest/parsing/parse.ts';
import { encodeResult, parseTaskSchema } from '../../src/ingest/parsing/task.ts';

const output = Bun.stdout.writer();
for (const piece of encodeFrame('ready')) output.write(piece);
await output.flush();
for await (const { head, body } of decodeFrames(Bun.stdin.stream())) {
  const text = new TextDecoder().decode(body);
  if (text === 'SIGKILL' || text === 'SIGSEGV') {
    process.kill(process.pid, text);
    await Bun.sleep(60_000);
  }
  for (const piece of encodeResult(await parseUpload(parseTaskSchema.parse(JSON.parse(head)), body)))
    output.write(piece);
  await output.flush();
}
process.exit(0);
