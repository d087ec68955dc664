/**
 * `npm test`: `bun test`, cut into two shards that run at the same time where there are two cores. Each has stores of
 * its own. What is given on the command line goes to a single `bun test`: `npm test tests/http`.
 */
import { availableParallelism } from 'node:os';

const SHARDS = Math.min(2, availableParallelism());
const args = process.argv.slice(2);

async function run(args: string[], stdout: 'inherit' | 'pipe'): Promise<{ status: number; output: string }> {
  // Bun writes its report to the standard error.
  const tests = Bun.spawn([process.execPath, 'test', ...args], { stdin: 'inherit', stdout, stderr: stdout });
  const [out, err] = await Promise.all([textOf(tests.stdout), textOf(tests.stderr)]);
  return { status: await tests.exited, output: out + err };
}

async function textOf(stream: ReadableStream | undefined): Promise<string> {
  return stream ? await new Response(stream).text() : '';
}

if (args.length > 0 || SHARDS === 1) process.exit((await run(args, 'inherit')).status);

const shards = await Promise.all(
  Array.from({ length: SHARDS }, async (_, index) => {
    // One is watched while it runs; the reports of the others follow in one piece.
    const { status, output } = await run([`--shard=${index + 1}/${SHARDS}`], index === 0 ? 'inherit' : 'pipe');
    // All of it before the process ends. `Bun.write` would begin at the start of a file.
    await new Promise((resolve) => process.stderr.write(output, resolve));
    return status;
  }),
);
process.exit(Math.max(...shards));
