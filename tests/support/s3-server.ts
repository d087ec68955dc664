/** An S3-compatible store as a process: Moto, of this machine or from PyPI. */
import { join } from 'node:path';
import { pythonEnvironment } from '../clients/support/python.ts';
import { machine } from '../clients/support/run.ts';
import { freePort } from './free-port.ts';
import { until } from './patience.ts';

export interface S3Server {
  endpoint: string;
  /** Ends the process; {@link start} begins another on the same port, which has no buckets. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Undefined, with the reason printed, if there is none here; in CI there is. */
export async function startS3Server(): Promise<S3Server | undefined> {
  const program = Bun.which('moto_server') ?? (await installed());
  if (program === undefined) return undefined;
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  let child: Bun.Subprocess | undefined;
  const start = async (): Promise<void> => {
    const command = [program, '--host', '127.0.0.1', '--port', String(port)];
    child = Bun.spawn(command, { env: machine(), stdout: 'ignore', stderr: 'ignore' });
    await until(() => {
      if (child && child.exitCode !== null) throw new Error(`the S3 server ended with ${child.exitCode}`);
      return fetch(endpoint).catch(() => undefined);
    });
  };
  await start();
  return {
    endpoint,
    start,
    stop: async () => {
      child?.kill('SIGKILL');
      await child?.exited;
    },
  };
}

async function installed(): Promise<string | undefined> {
  const python = await pythonEnvironment('s3');
  return python && join(python.bin, 'moto_server');
}
