/** What a tool is, and what tools have in common: the repository, pages, and how an answer is written. */
import { z } from 'zod';
import { DEFAULT_HOST, repositoryIdOf, testIdOf } from '../domain/identity.ts';
import { ANSWER_TOKENS_MAX, type ToldKeys, writeAnswer } from '../domain/told-answer.ts';
import { FENCE_NOTE, fence, tokensOf } from '../domain/told-text.ts';
import type { Rest, RestAnswer, RestQuery, RestRefusal } from './rest.ts';

/** What a tool has to answer with. */
export interface Asking {
  rest: Rest;
  /** The address below which the pages of the web application are, without a trailing slash. */
  app: string;
  /** What the key lacks for tools that change something; undefined if it may, or if another scope would not help. */
  lacking: LackingScope | undefined;
  /** Takes what went wrong in a tool, and is no answer of the API. */
  onFault(error: unknown): void;
}

export interface LackingScope {
  challenge: { scopes: [string]; errorDescription: string };
  /** The address of the metadata of the resource; undefined without an identity provider. */
  metadata: string | undefined;
}

export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  name: string;
  title: string;
  description: string;
  input: Shape;
  /** `write`: adds something; `remove`: takes something away. */
  kind: 'read' | 'write' | 'remove';
  run(input: z.output<z.ZodObject<Shape>>, asking: Asking): Promise<string>;
}

/** Keeps the type of the input for `run`. */
export const defineTool = <Shape extends z.ZodRawShape>(tool: Tool<Shape>): Tool<Shape> => tool;

/** How the fields of the API's answers are told. */
const KEYS: ToldKeys = {
  words: new Set([
    ...['health_status', 'health_confidence', 'before', 'from', 'to', 'turn', 'verdict', 'status', 'last_conclusion'],
    ...['commit_verdict', 'failed_executions_impact', 'kind', 'sign', 'source', 'cause', 'trouble'],
  ]),
  leftOut: new Set([
    ...['size', 'per_page', 'rules_version', 'fingerprint_version', 'received_at', 'is_stored_later', 'probabilities'],
    ...['failures_by_day', 'failed_executions_by_day', 'attachments', 'merged_from', 'user', 'test_framework_version'],
  ]),
};

const NAME_LENGTH_MAX = 10_000;

export const repositoryInput = z
  .string()
  .regex(/^[^/\s]{1,100}\/[^/\s]{1,100}$/, 'must be owner/name')
  .describe('The repository as owner/name.');
export const testInput = z
  .string()
  .min(1)
  .max(NAME_LENGTH_MAX)
  .describe('The id of the test (test_id), or its whole name as reports give it.');
export const pageInputs = {
  cursor: z.string().max(2_000).optional().describe('next_cursor of the answer before, for the next page.'),
  limit: z.int().min(1).max(50).default(10).describe('The most entries of a page.'),
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The repository of the input: its parts, the path of its operations and of its pages. */
export function placeOf(repository: string, { app }: Pick<Asking, 'app'>) {
  const [owner = '', name = ''] = repository.split('/');
  const below = `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  return {
    path: `/v1/ci/${encodeURIComponent(owner)}/repositories/${encodeURIComponent(name)}`,
    page: (...parts: readonly string[]) => [app, below, ...parts.map(encodeURIComponent)].join('/'),
    testId: (test: string) => (UUID.test(test) ? test : testIdOf(repositoryIdOf(DEFAULT_HOST, owner, name), test)),
  };
}

/** The note and a break come before the JSON. */
const JSON_TOKENS_MAX = ANSWER_TOKENS_MAX - tokensOf(FENCE_NOTE) - 1;

type Own = Readonly<Record<string, string | number | undefined>>;

/**
 * The answer of an operation as text for a model.
 *
 * @param leftOut keys that say too little here for their room
 */
export function answerOf(own: Own, told: Readonly<Record<string, unknown>>, leftOut: readonly string[] = []): string {
  const keys = leftOut.length === 0 ? KEYS : { ...KEYS, leftOut: new Set([...KEYS.leftOut, ...leftOut]) };
  return `${FENCE_NOTE}\n${writeAnswer({ own, told, keys, tokensMax: JSON_TOKENS_MAX }).json}`;
}

/**
 * A page of a list as text for a model. If fewer entries fit than were asked for, the page is read again with as many, so
 * that its cursor leads to what was left out.
 */
export async function pageOf(
  { rest, path, query, list, own }: { rest: Rest; path: string; query: RestQuery; list: string; own: Own },
  shape: (body: RestAnswer['body']) => Readonly<Record<string, unknown>> = (body) => body,
): Promise<string> {
  const write = ({ body, nextCursor }: RestAnswer) =>
    writeAnswer({
      own: { ...own, next_cursor: nextCursor },
      told: shape(body),
      list,
      keys: KEYS,
      tokensMax: JSON_TOKENS_MAX,
    });
  const first = await rest.get(path, query);
  const written = write(first);
  const items = first.body[list];
  const fitting = (Array.isArray(items) ? items.length : 0) - written.leftOut;
  const { json } =
    written.leftOut > 0 && fitting > 0 ? write(await rest.get(path, { ...query, per_page: fitting })) : written;
  return `${FENCE_NOTE}\n${json}`;
}

/** Lists as many entries as fit, with the cursor to those that follow. */
export function listOf({
  items,
  nextCursor,
  list,
  own,
  told,
}: {
  items: readonly unknown[];
  /** To what follows so many entries; undefined if nothing does. */
  nextCursor: (shown: number) => string | undefined;
  list: string;
  own: Own;
  told: Readonly<Record<string, unknown>>;
}): string {
  const write = (shown: number) =>
    writeAnswer({
      own: { ...own, next_cursor: nextCursor(shown) },
      told: { ...told, [list]: items.slice(0, shown) },
      ...{ list, keys: KEYS, tokensMax: JSON_TOKENS_MAX },
    });
  const whole = write(items.length);
  // With a cursor it may be longer by some tokens, so one entry more may have to go.
  let { json, leftOut } = whole;
  let shown = items.length;
  while (leftOut > 0 && shown > leftOut) {
    shown -= leftOut;
    ({ json, leftOut } = write(shown));
  }
  return `${FENCE_NOTE}\n${json}`;
}

/** What a refusal of the API says, for a model. Its sentence may quote what was sent. */
export const refusalText = ({ status, title, detail, retryAfter }: RestRefusal): string =>
  `${FENCE_NOTE}\n${JSON.stringify({ refused: { status, title, detail: fence(detail, 1_000), retry_after_seconds: retryAfter } })}`;
