/**
 * How long and how many: every limit that more than one place holds to, and the checks of an execution against them.
 * The gateway checks before the queue, the worker checks the jobs of other producers.
 *
 * `LENGTH` counts code points, `BYTES` counts UTF-8.
 */
import { type Axes, axesRejection } from './axes.ts';
import { textProblem } from './text.ts';

export const TEST_NAME_LENGTH_MAX = 10_000;
/** Every other name: pipelines, CI jobs, run ids, commits, branches, logins, hosts. */
export const NAME_LENGTH_MAX = 255;
/** Why a test is quarantined. */
export const REASON_LENGTH_MAX = 10_000;
/** Who owns a quarantine: a person or a team. */
export const QUARANTINE_OWNER_LENGTH_MAX = 255;
/** An address that pages link to: where the repair of a test is tracked, the page of a CI job. */
export const WEB_ADDRESS_BYTES_MAX = 2_048;
/** The name of a saved view, and what narrows and orders it. */
export const VIEW_NAME_LENGTH_MAX = 100;
export const VIEW_QUERY_LENGTH_MAX = 2_048;
/** Views of a repository that a person or key may have, and as many for everyone; of all of them together. */
export const VIEWS_MAX = 100;
export const VIEWS_ALL_MAX = 5_000;
/** Failure groups that one quarantine may name; an entry of the list that every CI job reads holds all of them. */
export const QUARANTINE_FAILURES_MAX = 100;
/**
 * Quarantines that people and clients may have open in one repository, the bytes of all that they say, and the cost of
 * matching a branch against their patterns (`branchCostOf`): each CI job reads all of them.
 */
export const QUARANTINES_MAX = 1_000;
export const QUARANTINES_BYTES_MAX = 4 * 1024 * 1024;
export const QUARANTINES_COST_MAX = 10_000;
/** With those that were made automatically, whatever the repository's own limit. */
export const QUARANTINES_ALL_MAX = 10_000;
export const PULL_REQUEST_TITLE_LENGTH_MAX = 10_000;
/** Free text on a repository host: GitHub's limit of a comment. */
export const COMMENT_LENGTH_MAX = 65_536;
/** The metadata of one event as JSON: more than the longest comment, and 50 MiB for a page of 100 events. */
export const METADATA_BYTES_MAX = 512 * 1024;
/** Trees of conditions have a few levels. */
export const METADATA_DEPTH_MAX = 32;

/** The largest pull-request number of an event: PostgreSQL's `integer`. */
export const PULL_REQUEST_NUMBER_MAX = 2_147_483_647;
/** The largest pull-request number and attempt of a run: ClickHouse's `UInt32`. */
export const UINT32_MAX = 4_294_967_295;

/** More than ten attempts are rare; the bound keeps one row from filling a block. */
export const FAILURES_MAX = 100;
/** Links to what was kept of one execution: screenshots, traces, logs. */
export const ATTACHMENTS_MAX = 8;
export const MESSAGE_BYTES_MAX = 64 * 1024;
export const STACKTRACE_BYTES_MAX = 256 * 1024;
/** Exception types, file paths, functions, frameworks, URLs: shown and grouped by, so cut rather than refused. */
export const DETAIL_BYTES_MAX = 2_048;
/** Executions of one upload, over all its chunks. */
export const UPLOAD_EXECUTIONS_MAX = 100_000;

const MEBIBYTE = 1024 * 1024;

/**
 * A gzip body may unpack to so many times its size, or to this much, whichever is more. Reports take 10 to 50; with a
 * test that logs one line while it waits, 300.
 */
export const UNPACK_RATIO_MAX = 64;
export const UNPACKED_BYTES_ALWAYS = 100 * MEBIBYTE;

/** Names around a test, in UTF-16 units, before its key names them by a digest. Stored claims depend on it. */
export const PLACE_LENGTH_MAX = 1_024;
/** Names and keys of the tests of an upload together, in UTF-16 units: 100,000 tests with 640 each. */
export const UPLOAD_NAMES_LENGTH_MAX = 64 * MEBIBYTE;
/** A report may have so many parts, and so many more for each test in it. */
export const XML_PARTS_MAX = 400_000;
export const XML_PARTS_PER_TEST = 200;
/** Characters of tags, references and the like, without text and values: what the parser looks at one by one. */
export const XML_MARKUP_LENGTH_MAX = 16 * MEBIBYTE;
export const XML_MARKUP_LENGTH_PER_TEST = 4_096;
/** Robot Framework writes every keyword that a test runs, with its arguments and messages: about 15 parts each. */
export const ROBOT_PARTS_PER_TEST = 1_000;
export const ROBOT_MARKUP_LENGTH_PER_TEST = 20_480;
export const EVENTS_MAX = 500_000;
export const EVENTS_PER_TEST = 2_000;

/** Resources, scopes and spans of one export: twice the tests that an upload may contain. */
export const SPANS_MAX = 200_000;
/** A span is one test. Its texts are cut at 64 and 256 KiB, so this is generous. */
export const SPAN_BYTES_MAX = 2 * MEBIBYTE;
/** Attributes, events and links of a span, or attributes of a resource. SDKs stop at 128, the clients at about 25. */
export const SPAN_ATTRIBUTES_MAX = 1_000;
/** Fields of all messages of a protobuf export: 100,000 tests with 25 attributes have eight million. */
export const EXPORT_FIELDS_MAX = 12_000_000;
/** Objects, arrays and items of a span in JSON. */
export const SPAN_JSON_VALUES_MAX = 10_000;
/** And of all spans: 100,000 tests with 18 attributes have about five million. */
export const EXPORT_JSON_VALUES_MAX = 8_000_000;

/** Bytes of the attributes of a resource or scope; those of the clients take about 1 KiB. */
export const RESOURCE_BYTES_MAX = MEBIBYTE;

/** Tests that a TRX report defines, whether they ran or not. */
export const TRX_DEFINITIONS_MAX = 200_000;
/** Files of a zip, with attachments. */
export const ZIP_FILES_MAX = 200_000;
/** A line is one event: with a line of output, or with a whole feature of Cucumber. */
export const LINE_BYTES_MAX = 4 * MEBIBYTE;
/** Parts of one form: far more than a job has reports, few enough to be taken apart. */
export const FORM_PARTS_MAX = 1_000;

/** How deep JSON and XML may nest. */
export const DEPTH_MAX = 100;
export const XML_ATTRIBUTES_MAX = 200;
/**
 * Length of an attribute, in UTF-16 units. pytest writes whole tracebacks into `message`; sax would stop at 64 Ki.
 */
export const XML_TOKEN_LENGTH_MAX = 4 * MEBIBYTE;
/** Size of a JSON value that is parsed as a whole. */
export const JSON_VALUE_BYTES_MAX = 16 * MEBIBYTE;
export const JSON_VALUE_PARTS_MAX = 200_000;
/** Values that are visited one by one on the way to the tests: a few for each test. */
export const JSON_PARTS_MAX = 1_500_000;

/**
 * All wildcards of one search may cost so much together (`costOf` in glob.ts). It leaves room for 255 values with 39 `*`
 * each, or of 39 characters with `*` and `?`, and for one value of 10,000 `?`.
 */
export const SEARCH_COST_MAX = 10_000;

/** Characters of a cursor: five names, each of 80 characters at most, however they are written. */
export const CURSOR_LENGTH_MAX = 4_096;

/** Values of a repeated parameter. */
export const ARRAY_LENGTH_MAX = 255;
/**
 * A JSON body, unless its operation says otherwise. The longest holds a test's name and a reason: 10,000 characters each,
 * which JSON may write with twelve bytes.
 */
export const JSON_BODY_BYTES_MAX = 256 * 1024;
/** The body with which a browser signs in. */
export const SIGN_IN_BODY_BYTES_MAX = 4 * 1024;
/** Names of tests that one request may ask about, and the bytes of its body. */
export const CHECKED_NAMES_MAX = 10_000;
export const CHECK_BODY_BYTES_MAX = 4 * MEBIBYTE;
/** The text of a CODEOWNERS file, and the list of files beside it. */
export const CODEOWNERS_BYTES_MAX = 512 * 1024;
export const CODEOWNERS_FILES_BYTES_MAX = 3 * MEBIBYTE;
export const CODEOWNERS_FILES_MAX = 50_000;
/** Both as JSON, in which some characters take two bytes. */
export const CODEOWNERS_BODY_BYTES_MAX = 4 * MEBIBYTE;
/** The files that a change touches: paths, the characters of one, and the bytes of all. */
export const CHANGED_FILES_MAX = 3_000;
export const CHANGED_PATH_LENGTH_MAX = 1_000;
export const CHANGED_FILES_BYTES_MAX = 256 * 1024;
/** Size as JSON, in which some characters take six bytes. */
export const CHANGED_FILES_BODY_BYTES_MAX = 2 * MEBIBYTE;
/** Pull requests of one request of an import. */
export const SENT_PULL_REQUESTS_MAX = 100;
/** JSON values of a body: those of a check, and room. */
export const JSON_BODY_VALUES_MAX = 20_000;
/**
 * Length of a request's address, as it is sent. A name of 10,000 emoji takes 120,000 when percent-encoded, and a search may
 * name two. Reading 750,000 took 40 ms.
 */
export const ADDRESS_LENGTH_MAX = 256 * 1024;

/** The pipeline or CI job of an upload that does not name it: no part of an identity is empty. */
export const UNKNOWN = 'unknown';

/** The fields of a run that are checked. */
export interface CheckedRun {
  pipeline_name: string;
  job_name: string;
  run_id: string;
  commit: string | null;
  branch: string | null;
  base_ref: string | null;
  axes?: Axes | undefined;
  place?: Axes | undefined;
}

/** The reason why a name of a test is refused, or null. */
export const nameRejection = (name: string): string | null => rejection('test name', name, 1, TEST_NAME_LENGTH_MAX);

/** The reason why all executions of a run are refused, or null. */
export function runRejection(run: CheckedRun): string | null {
  return (
    rejection('pipeline name', run.pipeline_name, 1, NAME_LENGTH_MAX) ??
    rejection('job name', run.job_name, 1, NAME_LENGTH_MAX) ??
    rejection('run id', run.run_id, 1, NAME_LENGTH_MAX) ??
    rejection('commit', run.commit ?? '', 0, NAME_LENGTH_MAX) ??
    rejection('branch', run.branch ?? '', 0, NAME_LENGTH_MAX) ??
    rejection('base branch', run.base_ref ?? '', 0, NAME_LENGTH_MAX) ??
    axesRejection(run.axes) ??
    axesRejection(run.place)
  );
}

function rejection(what: string, text: string, min: number, max: number): string | null {
  const problem = textProblem(text, min, max);
  return problem && `the ${what} ${problem.reason}`;
}

/**
 * An address that a page may link to, or null: `javascript:` and other schemes are dropped, and so is what is too long,
 * because a cut address leads somewhere else.
 */
export function webAddressOf(address: string | null): string | null {
  if (address === null || !address.isWellFormed() || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(address)) return null;
  return Buffer.byteLength(address) > WEB_ADDRESS_BYTES_MAX ? null : address;
}
