/** What goes wrong with a statement: refused for what is in it, or the store's trouble, which passes. */
import { StoreUnavailable } from '../errors.ts';

/**
 * Errors that the same statement meets again however often it is sent: the block holds something that cannot be
 * inserted. All other errors are the store's trouble and are retried.
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

/** Errors of a healthy statement on a store that is overloaded, read-only, without its keeper, short of replicas, or does not know us. */
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
 * ClickHouse answered, and the answer is an error. The message is shortened and the original left behind: the engine quotes
 * the data it could not read, which is no business of a log.
 */
export class StatementRefused extends Error {
  override name = 'StatementRefused';
  constructor(
    /** ClickHouse's number of the error. */
    readonly code: string,
    message: string,
  ) {
    super(message.replace(/\s+/g, ' ').slice(0, MESSAGE_LENGTH_MAX));
  }
}

export const isPermanentInsertError = (error: unknown): error is StatementRefused =>
  error instanceof StatementRefused && PERMANENT_INSERT_ERRORS.has(error.code);

/** The server was reached and does not let us in. */
export const isForeign = (error: unknown): boolean =>
  error instanceof StoreUnavailable && error.cause instanceof StatementRefused && error.cause.code === '516';

/**
 * By the number on it, not by its class: chdb and the client each come with a ClickHouseError of their own. Messages of
 * several lines reach us unparsed.
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
 * The connection was there and broke: a server that restarts, or that closed an idle connection at the moment in which it was used
 * again. What may be sent twice is sent again at once.
 */
export function isDropped(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /^(ECONNRESET|EPIPE|ConnectionClosed)/.test(codeOf(error)) ||
    /^(aborted|terminated|premature close)$|socket hang up|socket connection was closed/i.test(error.message)
  );
}

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '');
