/**
 * The process of an import: the command, as people run it. Its tokens come over standard input, because an environment can be
 * read from outside, and it ends at once when that is closed, with the process that started it.
 */
import { z } from 'zod';
import { importCommand } from '../client/import/command.ts';
import { setVariables } from '../client/settings.ts';

const orderSchema = z.object({ args: z.array(z.string()), environment: z.record(z.string(), z.string()) });

const reader = Bun.stdin.stream().pipeThrough(new TextDecoderStream()).getReader();

async function readOrder(): Promise<z.infer<typeof orderSchema>> {
  for (let text = ''; ; ) {
    const { value, done } = await reader.read();
    if (done) process.exit(1);
    text += value;
    if (text.endsWith('\n')) return orderSchema.parse(JSON.parse(text));
  }
}

async function endWithParent(): Promise<never> {
  for (;;) if ((await reader.read()).done) process.exit(1);
}

const { args, environment } = await readOrder();
void endWithParent();
setVariables(environment);
try {
  await importCommand()
    .exitOverride()
    .parseAsync([...args], { from: 'user' });
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failure: error instanceof Error ? error.message : String(error) })}\n`);
  process.exitCode = 1;
}
process.exit();
