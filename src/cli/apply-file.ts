/** Reads a file for `ci-insights apply`: YAML, whose faults are told with their lines, and the tokens that it points to. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { type ApplyFile, applyFileSchema, TOKEN_PATTERN, type TokenSource } from '../domain/apply-file.ts';
import { UserError } from '../errors.ts';
import { tokenHashOf } from '../postgres/keys.ts';
import { readSecretFile } from '../secret-file.ts';

/** Far more than 10,000 repositories need. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
/** The limit for aliases in a file: enough for one in each repository, too few to fill the memory. */
const ALIASES_MAX = 20_000;
const FAULTS_SHOWN_MAX = 20;

/** Throws a {@link UserError} that names the lines of all faults. `-` is the standard input. */
export function readApplyFile(file: string): ApplyFile {
  const name = file === '-' ? 'standard input' : file;
  const text = textOf(file);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false });
  const syntax = document.errors.map(
    ({ message, pos: [at] }) => `${name}:${lines.linePos(at).line}: is no YAML: ${message}`,
  );
  if (syntax.length > 0) throw faulty(syntax);
  const read = applyFileSchema.safeParse(contentOf(document, name));
  if (read.success) return read.data;
  throw faulty(
    read.error.issues.flatMap((issue) =>
      faultsOf(issue).map(
        ({ path, message }) => `${name}:${lineOf(document, lines, path)}: ${sentence(path, message)}`,
      ),
    ),
  );
}

function textOf(file: string): string {
  try {
    const bytes = readFileSync(file === '-' ? 0 : file);
    if (bytes.length > FILE_BYTES_MAX) throw new UserError(`${file} is longer than ${FILE_BYTES_MAX} bytes.`);
    return bytes.toString('utf8');
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(`${file} cannot be read.`, { cause });
  }
}

/** An empty file says nothing, like an empty section. */
function contentOf(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX }) ?? {};
  } catch (cause) {
    throw new UserError(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`, {
      cause,
    });
  }
}

const faulty = (faults: readonly string[]): UserError => {
  const more = faults.length - FAULTS_SHOWN_MAX;
  return new UserError([...faults.slice(0, FAULTS_SHOWN_MAX), ...(more > 0 ? [`… and ${more} more`] : [])].join('\n'));
};

type Path = readonly PropertyKey[];

/** Settings that people may look for in the file, but that belong in the environment. */
const SETTINGS_ELSEWHERE: Readonly<Record<string, string>> = {
  hosts: 'HOSTS',
  oidc: 'OIDC_ISSUER and OIDC_ACCESS',
  ci_tokens: 'CI_TOKEN_ISSUERS and CI_TOKEN_ACCESS',
};

function whyUnknown(path: Path, key: string): string {
  if (path.length === 0 && Object.hasOwn(SETTINGS_ELSEWHERE, key))
    return `belongs into the environment: set ${SETTINGS_ELSEWHERE[key]}`;
  if (path[0] === 'keys' && key === 'token')
    return 'must not be in the file: point to it with token_file or token_env, or give its token_sha256';
  return 'is unknown: docs/apply.md lists the fields';
}

function faultsOf(issue: z.core.$ZodIssue): { path: Path; message: string }[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...issue.path, key], message: whyUnknown(issue.path, key) }));
  const message = (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message;
  return [{ path: issue.path, message }];
}

/** Our messages go on after the path, those of the library are sentences. */
function sentence(path: Path, message: string): string {
  const at = path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    '',
  );
  return `${at === '' ? 'the file' : at}${/^[A-Z]/.test(message) ? ':' : ''} ${message}.`;
}

/** The line of a value, or of the nearest that is around it. */
function lineOf(document: Document, lines: LineCounter, path: Path): number {
  let at = 0;
  let node: unknown = document.contents;
  for (const step of path) {
    const inside: Node | undefined = isAlias(node) ? node.resolve(document) : isNodeLike(node) ? node : undefined;
    if (isMap(inside)) {
      const pair = inside.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === String(step));
      if (!pair) break;
      if (isScalar(pair.key)) at = pair.key.range?.[0] ?? at;
      node = pair.value;
    } else if (isSeq(inside)) {
      node = inside.items[Number(step)];
      if (isNodeLike(node)) at = node.range?.[0] ?? at;
    } else break;
  }
  return lines.linePos(at).line || 1;
}

const isNodeLike = (value: unknown): value is Node => isMap(value) || isSeq(value) || isScalar(value);

/**
 * Reads or computes the hash of a key's token. Throws a {@link UserError} that never holds the token.
 *
 * @param folder that of the file: where names of files begin
 */
export function tokenHashIn(
  key: string,
  source: TokenSource,
  folder: string,
  variables: Readonly<Record<string, string | undefined>>,
): string {
  if ('sha256' in source) return source.sha256;
  const [place, token] =
    'file' in source
      ? [source.file, readSecretFile(`token_file of the key ${key}`, resolve(folder, source.file))]
      : [`The variable ${source.variable}`, variables[source.variable]?.trim()];
  if (!token) throw new UserError(`The key ${key}: ${place} is not set.`);
  if (!TOKEN_PATTERN.test(token))
    throw new UserError(
      `The key ${key}: ${place} holds no token. One is cii_ and 43 to 200 letters, digits, - and _, at random: docs/apply.md says how to make it.`,
    );
  return tokenHashOf(token);
}

export const folderOf = (file: string): string => (file === '-' ? process.cwd() : dirname(resolve(file)));
