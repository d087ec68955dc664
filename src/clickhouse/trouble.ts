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
 * Errors that a valid statement meets while the store is overloaded, read-only, without Keeper, short of replicas, or
 * rejects our user.
 */
const UNAVAILABLE_ERRORS = new Set([
  '159', // TIMEOUT_EXCEEDED
  '164', // READONLY
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '209', // SOCKET_TIMEOUT
  '210', // NETWORK_ERROR
  '225', // NO_ZOOKEEPER
  '236', // ABORTED
  '241', // MEMORY_LIMIT_EXCEEDED
  '242', // TABLE_IS_READ_ONLY
  '252', // TOO_MANY_PARTS
  '279', // ALL_CONNECTION_TRIES_FAILED
  '285', // TOO_FEW_LIVE_REPLICAS
  '286', // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  '289', // REPLICA_IS_NOT_IN_QUORUM
  '319', // UNKNOWN_STATUS_OF_INSERT
  '369', // ALL_REPLICAS_ARE_STALE
  '516', // AUTHENTICATION_FAILED
  '999', // KEEPER_EXCEPTION
]);

const MESSAGE_LENGTH_MAX = 300;

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

/**
 * Goes by the error's number, not its class: chdb and the client each bring a ClickHouseError class. Multi-line
 * messages arrive unparsed.
 */
export function classified(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const stated = 'code' in error && typeof error.code === 'string' && /^\d+$/.test(error.code) ? error.code : undefined;
  const code = stated ?? /^Code: (\d+)\./.exec(error.message)?.[1];
  if (code === undefined) return isConnectionTrouble(error) ? new StoreUnavailable('clickhouse', error) : error;
  const refused = new StatementRefused(code, error.message);
  return UNAVAILABLE_ERRORS.has(code) ? new StoreUnavailable('clickhouse', refused) : refused;
}

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
