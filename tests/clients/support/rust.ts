/**
 * The Rust program of docs/producers.md. Its crates are built once and kept in the user's cache, outside of the repository:
 * that takes a minute or two.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { crateLicences, refuseClosed } from './licences.ts';
import { recipe } from './recipes.ts';
import { run } from './run.ts';

/** Cargo.toml and Cargo.lock, with exact versions of everything. */
const MANIFEST = join(import.meta.dir, '../rust-producer');
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'ci-insights/rust-producer');
/** Rust before this does not build the crates. */
const RUST = '1.89';

/** The path of the program; undefined if it cannot be built, with the reason printed. In CI it must be built. */
export async function rustProducer(): Promise<string | undefined> {
  const cargo = Bun.which('cargo') ?? join(homedir(), '.cargo/bin/cargo');
  const reason = existsSync(cargo) ? await whyNot(cargo) : `there is no cargo here (Rust ${RUST} or later)`;
  if (reason === undefined) return join(CACHE, 'target/debug/rust-producer');
  if (process.env.CI === 'true') throw new Error(`in CI no client is skipped, but ${reason}`);
  console.error(`skipped: the producer in Rust, because ${reason}`);
  return undefined;
}

async function whyNot(cargo: string): Promise<string | undefined> {
  const folder = join(CACHE, 'program');
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const file of ['Cargo.toml', 'Cargo.lock'])
    writeFileSync(join(folder, file), await Bun.file(join(MANIFEST, file)).text());
  writeFileSync(join(folder, 'src/main.rs'), recipe('### Rust', 'rust'));
  const env = { ...process.env, CARGO_TARGET_DIR: join(CACHE, 'target') };
  const described = await run([cargo, 'metadata', '--locked', '--format-version', '1'], { cwd: folder, env });
  if (described.code !== 0) return `cargo cannot read the crates: ${lastLine(described.stderr)}`;
  refuseClosed(crateLicences(described.stdout));
  const built = await run([cargo, 'build', '--locked', '--quiet'], { cwd: folder, env });
  return built.code === 0 ? undefined : `cargo cannot build it: ${built.printed.slice(0, 1_000)}`;
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
