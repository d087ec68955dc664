/**
 * Classifies errors of statements: refused because of their content, or failed because of trouble with the store, which
 * passes.
 */
import { StoreUnavailable } from '../errors.ts';

/**
 * Errors that the same insert will always meet: the block contains something that cannot be inserted. All other errors
 * count as trouble with the store, and are retried.
 */
const PERMANENT_INSERT_ERRORS = new Set([
  '6', // CANNOT_PARSE_TEXT
  '25', // CANNOT_PARSE_ESCAPE_SEQUENCE
  '26', // CANNOT_PARSE_QUOTED_STRING
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '33', // CANNOT_READ_ALL_DATA
  '38', // CANNOT_PARSE_DATE
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '130', // CANNOT_READ_ARRAY_FROM_TEXT
  '190', // SIZES_OF_ARRAYS_DONT_MATCH
  '376', // CANNOT_PARSE_UUID
  '467', // CANNOT_PARSE_BOOL
  '691', // UNKNOWN_ELEMENT_OF_ENUM
]);

/**
 * Errors that a valid statement meets while the store is overloaded, read-only, full, without Keeper, short of replicas or
 * of another server, or rejects our user.
 */
const UNAVAILABLE_ERRORS = new Set([
  '3', // UNEXPECTED_END_OF_FILE
  '32', // ATTEMPT_TO_READ_AFTER_EOF: another server ended during the statement
  '95', // CANNOT_READ_FROM_SOCKET
  '96', // CANNOT_WRITE_TO_SOCKET
  '159', // TIMEOUT_EXCEEDED
  '164', // READONLY
  '173', // CANNOT_ALLOCATE_MEMORY
  '198', // DNS_ERROR
  '201', // QUOTA_EXCEEDED
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '203', // NO_FREE_CONNECTION
  '209', // SOCKET_TIMEOUT
  '210', // NETWORK_ERROR
  '225', // NO_ZOOKEEPER
  '236', // ABORTED
  '241', // MEMORY_LIMIT_EXCEEDED
  '242', // TABLE_IS_READ_ONLY
  '243', // NOT_ENOUGH_SPACE
  '244', // UNEXPECTED_ZOOKEEPER_ERROR
  '252', // TOO_MANY_PARTS
  '279', // ALL_CONNECTION_TRIES_FAILED
  '285', // TOO_FEW_LIVE_REPLICAS
  '286', // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  '289', // REPLICA_IS_NOT_IN_QUORUM
  '319', // UNKNOWN_STATUS_OF_INSERT
  '369', // ALL_REPLICAS_ARE_STALE
  '394', // QUERY_WAS_CANCELLED: by the server as it stops, or by an administrator
  '439', // CANNOT_SCHEDULE_TASK
  '499', // S3_ERROR
  '516', // AUTHENTICATION_FAILED
  '999', // KEEPER_EXCEPTION
]);

const MESSAGE_LENGTH_MAX = 300;

/** There was no answer in time. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  constructor(limitMs: number, cause: unknown) {
    super(`no answer within ${limitMs} ms`, { cause });
  }
}

/** The store did not answer in time, where others refuse or break the connection. */
export const isLate = (error: unknown): boolean => error instanceof StoreUnavailable && error.cause instanceof NoAnswer;

/** Another server answered in place of ClickHouse: a balancer, a proxy. */
class NotFromClickHouse extends Error {
  override name = 'NotFromClickHouse';
  constructor(text: string) {
    const said = text
      .slice(0, 4 * MESSAGE_LENGTH_MAX)
      .replace(/<[^<>]{0,1000}>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    super(`the answer is not ClickHouse's: ${said.slice(0, MESSAGE_LENGTH_MAX) || 'it is empty'}`);
  }
}

const SIGNS = ['x-clickhouse-query-id', 'x-clickhouse-summary', 'x-clickhouse-server-display-name'];

/** Throws if an answer lacks the headers that ClickHouse gives each: a page of something else is no acknowledgement. */
export function assertFromClickHouse(headers: Readonly<Record<string, unknown>>): void {
  if (!SIGNS.some((name) => headers[name] !== undefined))
    throw new NotFromClickHouse('it has none of the headers of ClickHouse');
}

/**
 * ClickHouse answered with an error. The message is shortened and the original dropped, because the engine quotes the
 * data it could not read, and that does not belong in a log.
 */
export class StatementRefused extends Error {
  override name = 'StatementRefused';
  constructor(
    /** ClickHouse's error number. */
    readonly code: string,
    message: string,
  ) {
    super(message.replace(/\s+/g, ' ').slice(0, MESSAGE_LENGTH_MAX));
  }
}

export const isPermanentInsertError = (error: unknown): error is StatementRefused =>
  error instanceof StatementRefused && PERMANENT_INSERT_ERRORS.has(error.code);

/** The server answers, but rejects our user or password. */
export const isAuthenticationFailure = (error: unknown): boolean =>
  error instanceof StoreUnavailable && error.cause instanceof StatementRefused && error.cause.code === '516';

/** The profile of our user forbids writing; with `readonly` of 1, also settings. */
export const isReadOnly = (error: unknown): boolean => refusalOf(error)?.code === '164';

export const isUnknownSetting = (error: unknown): boolean => refusalOf(error)?.code === '115';

/** The refusal of ClickHouse, if it refused; also if that counts as trouble that passes. */
export function refusalOf(error: unknown): StatementRefused | undefined {
  const said = error instanceof StoreUnavailable ? error.cause : error;
  return said instanceof StatementRefused ? said : undefined;
}

/** Why an insert was not taken by a store that responds; undefined if it does not respond. */
export function insertRefusal(error: unknown): string | undefined {
  const refused = refusalOf(error);
  if (refused) return `error ${refused.code}: ${refused.message}`;
  const said = error instanceof StoreUnavailable ? error.cause : undefined;
  return said instanceof NotFromClickHouse ? said.message : undefined;
}

/**
 * Goes by the error's number, not its class: chdb and the client each bring a ClickHouseError class. Multi-line
 * messages arrive unparsed.
 *
 * @param isOverHttp whether something else than ClickHouse may have answered
 */
export function classified(error: unknown, isOverHttp = false): unknown {
  if (!(error instanceof Error)) return error;
  const stated = 'code' in error && typeof error.code === 'string' && /^\d+$/.test(error.code) ? error.code : undefined;
  const code = stated ?? /^Code: (\d+)\./.exec(error.message)?.[1];
  if (code === undefined) {
    if (isConnectionTrouble(error)) return new StoreUnavailable('clickhouse', error);
    return isOverHttp && isOfAnother(error) ? insteadOf(asOfAnother(error)) : error;
  }
  const refused = new StatementRefused(code, error.message);
  return UNAVAILABLE_ERRORS.has(code) ? new StoreUnavailable('clickhouse', refused, adviceFor(refused)) : refused;
}

const insteadOf = (error: NotFromClickHouse): StoreUnavailable =>
  new StoreUnavailable(
    'clickhouse',
    error,
    `Something else than ClickHouse responds at CLICKHOUSE_URL, such as a balancer without a server: ${error.message}.`,
  );

const adviceFor = (refused: StatementRefused): string =>
  refused.code === '164'
    ? READ_ONLY_ADVICE
    : `ClickHouse responds, but refuses what the service needs (error ${refused.code}): ${refused.message}`;

export const READ_ONLY_ADVICE =
  'ClickHouse responds, but the user in CLICKHOUSE_URL is read-only: the service writes. Remove `readonly` from the profile of the user, or take another user.';

/** The client makes a plain error of an answer that is none of ClickHouse's errors, with its text as the message. */
const isOfAnother = (error: Error): boolean =>
  error instanceof NotFromClickHouse || (error.constructor === Error && !('code' in error));

const asOfAnother = (error: Error): NotFromClickHouse =>
  error instanceof NotFromClickHouse ? error : new NotFromClickHouse(error.message);

const CONNECTION_CODES =
  /^(ECONN|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT|ConnectionRefused|ConnectionClosed)/;

function isConnectionTrouble(error: Error): boolean {
  return CONNECTION_CODES.test(codeOf(error)) || /timeout error/i.test(error.message) || isDropped(error);
}

/**
 * An established connection broke: the server restarted, or closed an idle connection just as it was used again.
 * Whatever may be sent twice is repeated immediately.
 */
export function isDropped(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /^(ECONNRESET|EPIPE|ConnectionClosed)/.test(codeOf(error)) ||
    /^(aborted|terminated|premature close)$|socket hang up|socket connection was closed/i.test(error.message)
  );
}

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '');
