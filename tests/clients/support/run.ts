/** Runs a program to its end and keeps what it printed. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** Both, to show when a test fails. */
  printed: string;
}

export interface RunOptions {
  cwd?: string;
  /** The whole environment: nothing is inherited from this process. */
  env: Record<string, string | undefined>;
  /** Text for its standard input. */
  input?: string;
}

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

/**
 * Variables that a program needs to start on this machine at all. One that asks another server (for a schema, a newer
 * version) is refused.
 */
export const machine = (): Record<string, string | undefined> => {
  const { PATH, HOME, TMPDIR, LANG = 'C.UTF-8' } = process.env;
  return { PATH, HOME, TMPDIR, LANG, HTTPS_PROXY: NOWHERE, NO_PROXY: '127.0.0.1,localhost' };
};

export async function run(command: readonly string[], { cwd, env, input }: RunOptions): Promise<Ran> {
  const child = Bun.spawn([...command], {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    stdin: input === undefined ? 'ignore' : new TextEncoder().encode(input),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr, printed: `${stdout}${stderr}` };
}
