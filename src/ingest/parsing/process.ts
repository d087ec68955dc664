/**
 * A parser as a separate process, started by `pool.ts`: it says that it is ready, reads tasks from its input, one after
 * the other, and writes the results to its output. It has no credentials, opens nothing, and ends when its input does.
 */
import { decodeFrames, encodeFrame } from '../../frames.ts';
import { parseUpload } from './parse.ts';
import { encodeResult, parseTaskSchema } from './task.ts';

/** The runtime would let garbage grow to as much as is in use, and so decide how many parsers a container holds. */
const GARBAGE_BYTES_MAX = 192 * 1024 ** 2;
const LOOK_MS = 50;
let leastBytes = process.memoryUsage.rss();
setInterval(() => {
  const bytes = process.memoryUsage.rss();
  if (bytes <= leastBytes + GARBAGE_BYTES_MAX) leastBytes = Math.min(leastBytes, bytes);
  else {
    Bun.gc(true);
    leastBytes = process.memoryUsage.rss();
  }
}, LOOK_MS);

const output = Bun.stdout.writer();
for (const piece of encodeFrame('ready')) output.write(piece);
await output.flush();
for await (const { head, body } of decodeFrames(Bun.stdin.stream())) {
  const result = await parseUpload(parseTaskSchema.parse(JSON.parse(head)), body);
  for (const piece of encodeResult(result)) output.write(piece);
  await output.flush();
}
process.exit(0);
