/** Anything that the process prints or throws is a line of the log, without secrets. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { ROOT } from '../support/service-process.ts';

const SECRET = 'a-secret-of-the-test';

/** Runs a line of code in a process whose output is logged; returns its exit code, its output and the lines of its log. */
function run(code: string) {
  const program = `
    import { createLogger } from '${join(ROOT, 'src/observability/log.ts')}';
    import { logProcessOutput } from '${join(ROOT, 'src/observability/process-output.ts')}';
    logProcessOutput(createLogger('debug', undefined, ['${SECRET}']));
    ${code}`;
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, '-e', program], { env: {} });
  const lines: { level: number; msg: string; err?: { message: string; stack: string } }[] = stderr
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(stderr.toString()).not.toContain(SECRET);
  return { exitCode, stdout: stdout.toString(), lines };
}

test('what a library prints is a line each, also an error with its stack', () => {
  const { exitCode, stdout, lines } = run(`
    console.error('[library] Unhandled error event:', new Error('refused ${SECRET}').stack);
    console.error(new Error('with ${SECRET}'));
    console.log('%s and %d', 'text', 3, { deep: { value: '${SECRET}' } });
    process.stderr.write('two\\nlines of ${SECRET}\\n');
    process.emitWarning('a warning');
  `);
  expect([exitCode, stdout]).toEqual([0, '']);
  expect(lines[0]?.msg).toStartWith('[library] Unhandled error event: Error: refused [secret]\n');
  expect(lines[1]).toMatchObject({ level: 40, err: { message: 'with [secret]' }, msg: 'a library printed an error' });
  expect(lines[2]?.msg).toBe("text and 3 { deep: { value: '[secret]' } }");
  expect(lines[3]?.msg).toBe('two\nlines of [secret]');
  expect(
    lines
      .slice(4)
      .map(({ msg }) => msg)
      .join('\n'),
  ).toContain('a warning');
});

test('an unhandled rejection is logged, and the process keeps running', () => {
  const { exitCode, stdout, lines } = run(`
    Promise.reject(new Error('stray ${SECRET}'));
    setTimeout(() => process.stdout.write('still here'), 50);
  `);
  expect([exitCode, stdout]).toEqual([0, 'still here']);
  expect(lines).toMatchObject([{ level: 50, err: { message: 'stray [secret]' } }]);
});

test('an uncaught error is logged and ends the process with code 1', () => {
  const { exitCode, stdout, lines } = run(`
    setTimeout(() => process.stdout.write('still here'), 100);
    setTimeout(() => { throw new Error('thrown ${SECRET}'); }, 10);
  `);
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(lines).toMatchObject([{ level: 60, err: { message: 'thrown [secret]' } }]);
});
