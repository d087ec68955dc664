/**
 * Every limit of what is sent to the service: how much, of what, what becomes of more, and the sentence that says so.
 * The code that holds to a limit takes its sentence from here, and docs/api.md shows the rows.
 */
import * as limits from './limits.ts';
import { cutMark, tooLong } from './text.ts';

/** Consequence of exceeding it: a status for the whole request, or what happens to the part. */
type Beyond = 413 | 414 | 422 | string;

interface Limit<About extends readonly unknown[]> {
  most: number;
  /** The things that are limited, as a row of the documentation: "tests of an upload". */
  of: string;
  beyond: Beyond;
  /** Message to the sender: a sentence, or for a part of an upload the reason in its receipt. */
  sentence(...about: About): string;
}

const limit = <About extends readonly unknown[]>(
  most: number,
  of: string,
  beyond: Beyond,
  sentence: (...about: About) => string,
): Limit<About> => ({ most, of, beyond, sentence });

const MEBIBYTE = 1024 * 1024;
const inMebibytes = (bytes: number): string => `${bytes / MEBIBYTE} MiB`;

const tooManyXmlParts = () =>
  `The report holds more than ${limits.XML_PARTS_MAX} elements, attributes and character references, and ${limits.XML_PARTS_PER_TEST} more for each test. Send it in several uploads.`;
const tooMuchMarkup = () =>
  `The tags of the report, without text and values, take more than ${limits.XML_MARKUP_LENGTH_MAX} characters, and ${limits.XML_MARKUP_LENGTH_PER_TEST} more for each test. Send it in several uploads.`;
const withoutKeywords = 'Leave out keywords that passed: rebot --removekeywords passed --output small.xml output.xml';
const tooManyRobotParts = () =>
  `The report holds more than ${limits.XML_PARTS_MAX} elements, attributes and character references, and ${limits.ROBOT_PARTS_PER_TEST} more for each test. ${withoutKeywords}.`;
const tooMuchRobotMarkup = () =>
  `The tags of the report, without text and values, take more than ${limits.XML_MARKUP_LENGTH_MAX} characters, and ${limits.ROBOT_MARKUP_LENGTH_PER_TEST} more for each test. ${withoutKeywords}.`;
const tooManyEvents = () =>
  `The report holds more than ${limits.EVENTS_MAX} events or lines, and ${limits.EVENTS_PER_TEST} more for each test. Send it in several uploads.`;
const unpacksTooWell = () =>
  `The body is more than ${limits.UNPACK_RATIO_MAX} times as large after decompression, and larger than ${inMebibytes(limits.UNPACKED_BYTES_ALWAYS)}. Send it in several requests, or leave out what tests print, which is not kept.`;
const cut = (bytes: number) => cutMark(bytes);

/** Limits of an upload. */
export const UPLOAD_LIMITS = {
  UPLOAD_EXECUTIONS_MAX: limit(
    limits.UPLOAD_EXECUTIONS_MAX,
    'tests of an upload',
    413,
    (most = limits.UPLOAD_EXECUTIONS_MAX) =>
      `The upload holds more than ${most} tests. Send it as several uploads, each with other reports or traces.`,
  ),
  UNPACK_RATIO_MAX: limit(
    limits.UNPACK_RATIO_MAX,
    'times its size that gzip may unpack to, beyond `UNPACKED_BYTES_ALWAYS`',
    413,
    unpacksTooWell,
  ),
  UNPACKED_BYTES_ALWAYS: limit(
    limits.UNPACKED_BYTES_ALWAYS,
    'bytes that gzip may always unpack to',
    413,
    unpacksTooWell,
  ),
  FORM_PARTS_MAX: limit(
    limits.FORM_PARTS_MAX,
    'parts of a form',
    422,
    () => `The form holds more than ${limits.FORM_PARTS_MAX} parts. Send its reports in several uploads.`,
  ),
  ZIP_FILES_MAX: limit(
    limits.ZIP_FILES_MAX,
    'files of a zip of Allure results',
    413,
    () =>
      `The zip holds more than ${limits.ZIP_FILES_MAX} files. Leave out attachments, or send it in several uploads.`,
  ),
  UPLOAD_NAMES_LENGTH_MAX: limit(
    limits.UPLOAD_NAMES_LENGTH_MAX,
    'characters of names and keys in a report',
    413,
    () =>
      `The names of the tests, with the suites around them, take more than ${limits.UPLOAD_NAMES_LENGTH_MAX} characters. Shorten them, or send the report in several uploads.`,
  ),
  DEPTH_MAX: limit(
    limits.DEPTH_MAX,
    'levels of nesting in XML and JSON',
    422,
    (what: string, parts: string) => `The ${what} nests ${parts} more than ${limits.DEPTH_MAX} deep.`,
  ),
  XML_PARTS_MAX: limit(
    limits.XML_PARTS_MAX,
    'elements, attributes and references of an XML report (note 1)',
    413,
    tooManyXmlParts,
  ),
  XML_PARTS_PER_TEST: limit(limits.XML_PARTS_PER_TEST, 'of these, more for each test', 413, tooManyXmlParts),
  XML_MARKUP_LENGTH_MAX: limit(
    limits.XML_MARKUP_LENGTH_MAX,
    'characters of tags and references of an XML report (note 1)',
    413,
    tooMuchMarkup,
  ),
  XML_MARKUP_LENGTH_PER_TEST: limit(
    limits.XML_MARKUP_LENGTH_PER_TEST,
    'of these, more for each test',
    413,
    tooMuchMarkup,
  ),
  ROBOT_PARTS_PER_TEST: limit(
    limits.ROBOT_PARTS_PER_TEST,
    'parts that each test adds in a report of Robot Framework',
    413,
    tooManyRobotParts,
  ),
  ROBOT_MARKUP_LENGTH_PER_TEST: limit(
    limits.ROBOT_MARKUP_LENGTH_PER_TEST,
    'characters of tags that each test adds there',
    413,
    tooMuchRobotMarkup,
  ),
  XML_ATTRIBUTES_MAX: limit(
    limits.XML_ATTRIBUTES_MAX,
    'attributes of an element',
    422,
    () => `An element of the report has more than ${limits.XML_ATTRIBUTES_MAX} attributes.`,
  ),
  XML_TOKEN_LENGTH_MAX: limit(
    limits.XML_TOKEN_LENGTH_MAX,
    'characters of an attribute',
    'a warning; what came before is kept',
    () => `an attribute has more than ${limits.XML_TOKEN_LENGTH_MAX} characters`,
  ),
  TRX_DEFINITIONS_MAX: limit(
    limits.TRX_DEFINITIONS_MAX,
    'tests that a TRX report defines',
    413,
    () => `The report defines more than ${limits.TRX_DEFINITIONS_MAX} tests. Send it in several uploads.`,
  ),
  EVENTS_MAX: limit(limits.EVENTS_MAX, 'events or lines of a report that is made of them (note 1)', 413, tooManyEvents),
  EVENTS_PER_TEST: limit(limits.EVENTS_PER_TEST, 'of these, more for each test', 413, tooManyEvents),
  LINE_BYTES_MAX: limit(
    limits.LINE_BYTES_MAX,
    'bytes of a line of such a report',
    'a warning; the line does not count',
    (lines: string) => `${lines} of the report cannot be read as events, and so do not count.`,
  ),
  JSON_PARTS_MAX: limit(
    limits.JSON_PARTS_MAX,
    'JSON values outside of tests',
    413,
    (what: string) =>
      `The ${what} holds more than ${limits.JSON_PARTS_MAX} JSON values outside of its tests. Send it in several uploads.`,
  ),
  JSON_VALUE_BYTES_MAX: limit(
    limits.JSON_VALUE_BYTES_MAX,
    'bytes of a Playwright test or a span in JSON',
    'the test is refused',
    () => `the test with its attachments and output is larger than ${inMebibytes(limits.JSON_VALUE_BYTES_MAX)}`,
  ),
  JSON_VALUE_PARTS_MAX: limit(
    limits.JSON_VALUE_PARTS_MAX,
    'JSON values of a Playwright test',
    'the test is refused',
    () => `the test with its attachments and output holds more than ${limits.JSON_VALUE_PARTS_MAX} JSON values`,
  ),
  SPANS_MAX: limit(
    limits.SPANS_MAX,
    'resources, scopes and spans of an export',
    413,
    () => `The export holds more than ${limits.SPANS_MAX} resources, scopes and spans. Send it in several requests.`,
  ),
  SPAN_BYTES_MAX: limit(
    limits.SPAN_BYTES_MAX,
    'bytes of a span',
    'the span is refused',
    () => `a span is larger than ${inMebibytes(limits.SPAN_BYTES_MAX)}`,
  ),
  SPAN_ATTRIBUTES_MAX: limit(
    limits.SPAN_ATTRIBUTES_MAX,
    'attributes, events and links of a span or resource',
    'the span is refused; 422',
    (what = 'a span') =>
      what === 'a span'
        ? `a span has more than ${limits.SPAN_ATTRIBUTES_MAX} attributes, events and links`
        : `The export describes ${what} with more than ${limits.SPAN_ATTRIBUTES_MAX} attributes.`,
  ),
  SPAN_JSON_VALUES_MAX: limit(
    limits.SPAN_JSON_VALUES_MAX,
    'JSON values of a span',
    'the span is refused',
    () => `a span holds more than ${limits.SPAN_JSON_VALUES_MAX} JSON values`,
  ),
  RESOURCE_BYTES_MAX: limit(
    limits.RESOURCE_BYTES_MAX,
    'bytes of a resource or scope',
    422,
    () =>
      `The export describes a resource or scope with more than ${inMebibytes(limits.RESOURCE_BYTES_MAX)} of attributes.`,
  ),
  EXPORT_FIELDS_MAX: limit(
    limits.EXPORT_FIELDS_MAX,
    'fields of a protobuf export',
    413,
    () =>
      `The export holds more than ${limits.EXPORT_FIELDS_MAX} attributes and other fields. Send it in several requests.`,
  ),
  EXPORT_JSON_VALUES_MAX: limit(
    limits.EXPORT_JSON_VALUES_MAX,
    'JSON values of all spans',
    413,
    () => `The export holds more than ${limits.EXPORT_JSON_VALUES_MAX} JSON values. Send it in several requests.`,
  ),
  TEST_NAME_LENGTH_MAX: limit(
    limits.TEST_NAME_LENGTH_MAX,
    'characters of the name of a test',
    'the test is refused',
    () => `the test name ${tooLong(limits.TEST_NAME_LENGTH_MAX)}`,
  ),
  NAME_LENGTH_MAX: limit(
    limits.NAME_LENGTH_MAX,
    'characters of pipeline, job, run, commit and branch',
    'its tests are refused',
    (what: string) => `the ${what} ${tooLong(limits.NAME_LENGTH_MAX)}`,
  ),
  FAILURES_MAX: limit(
    limits.FAILURES_MAX,
    'failed attempts of a test',
    'a warning; the first are kept',
    () =>
      `An execution has more than ${limits.FAILURES_MAX} failed attempts: only the first ${limits.FAILURES_MAX} are kept.`,
  ),
  ATTACHMENTS_MAX: limit(
    limits.ATTACHMENTS_MAX,
    'links to attachments of the failed attempts of an execution',
    'a warning; the first are kept',
    () =>
      `An execution names more than ${limits.ATTACHMENTS_MAX} attachments: only the first ${limits.ATTACHMENTS_MAX} are kept.`,
  ),
  MESSAGE_BYTES_MAX: limit(limits.MESSAGE_BYTES_MAX, 'bytes of a message', 'cut, and marked', cut),
  STACKTRACE_BYTES_MAX: limit(limits.STACKTRACE_BYTES_MAX, 'bytes of a stack trace', 'cut, and marked', cut),
  DETAIL_BYTES_MAX: limit(
    limits.DETAIL_BYTES_MAX,
    'bytes of a path, a function, an exception type',
    'cut, and marked',
    cut,
  ),
};

/** Limits of other requests and of events. */
export const REQUEST_LIMITS = {
  ADDRESS_LENGTH_MAX: limit(
    limits.ADDRESS_LENGTH_MAX,
    'characters of an address, percent-encoded',
    414,
    () =>
      `The address of the request has more than ${limits.ADDRESS_LENGTH_MAX} characters. Ask for fewer names at once.`,
  ),
  CURSOR_LENGTH_MAX: limit(limits.CURSOR_LENGTH_MAX, 'characters of a cursor', 422, () =>
    tooLong(limits.CURSOR_LENGTH_MAX),
  ),
  ARRAY_LENGTH_MAX: limit(
    limits.ARRAY_LENGTH_MAX,
    'values of a repeated parameter',
    422,
    () => `is given more than ${limits.ARRAY_LENGTH_MAX} times`,
  ),
  SEARCH_COST_MAX: limit(
    limits.SEARCH_COST_MAX,
    'cost of all wildcards of a search (note 1)',
    422,
    () =>
      `has wildcards that cost more than ${limits.SEARCH_COST_MAX} together: each * costs 1, and a value with ? costs its length for each * in it, at least its length; send fewer or simpler patterns`,
  ),
  JSON_BODY_BYTES_MAX: limit(
    limits.JSON_BODY_BYTES_MAX,
    'bytes of a JSON body, where no other row names it',
    413,
    (most = limits.JSON_BODY_BYTES_MAX) => `The request body exceeds ${most} bytes: split it.`,
  ),
  SIGN_IN_BODY_BYTES_MAX: limit(
    limits.SIGN_IN_BODY_BYTES_MAX,
    'bytes of the body of a sign-in',
    413,
    (most = limits.SIGN_IN_BODY_BYTES_MAX) => `The request body exceeds ${most} bytes: split it.`,
  ),
  CHECK_BODY_BYTES_MAX: limit(
    limits.CHECK_BODY_BYTES_MAX,
    'bytes of the body of a check of quarantines or of a split',
    413,
    (most = limits.CHECK_BODY_BYTES_MAX) => `The request body exceeds ${most} bytes: split it.`,
  ),
  CODEOWNERS_BODY_BYTES_MAX: limit(
    limits.CODEOWNERS_BODY_BYTES_MAX,
    'bytes of the body with a CODEOWNERS file',
    413,
    (most = limits.CODEOWNERS_BODY_BYTES_MAX) => `The request body exceeds ${most} bytes: split it.`,
  ),
  CODEOWNERS_BYTES_MAX: limit(
    limits.CODEOWNERS_BYTES_MAX,
    'bytes of a CODEOWNERS file',
    422,
    () => `is longer than ${limits.CODEOWNERS_BYTES_MAX} bytes`,
  ),
  CODEOWNERS_FILES_BYTES_MAX: limit(
    limits.CODEOWNERS_FILES_BYTES_MAX,
    'bytes of the list of files beside it',
    422,
    () => `is longer than ${limits.CODEOWNERS_FILES_BYTES_MAX} bytes: list only files with tests, or none`,
  ),
  CODEOWNERS_FILES_MAX: limit(
    limits.CODEOWNERS_FILES_MAX,
    'files in that list',
    422,
    () => `lists more than ${limits.CODEOWNERS_FILES_MAX} files: list only files with tests, or none`,
  ),
  CHANGED_FILES_BODY_BYTES_MAX: limit(
    limits.CHANGED_FILES_BODY_BYTES_MAX,
    'bytes of the body with the files that a change touches',
    413,
    (most = limits.CHANGED_FILES_BODY_BYTES_MAX) => `The request body exceeds ${most} bytes: split it.`,
  ),
  CHANGED_FILES_BYTES_MAX: limit(
    limits.CHANGED_FILES_BYTES_MAX,
    'bytes of their paths',
    422,
    () => `takes more than ${limits.CHANGED_FILES_BYTES_MAX} bytes: leave paths out`,
  ),
  CHANGED_FILES_MAX: limit(
    limits.CHANGED_FILES_MAX,
    'files that a change touches, in a question about claims too',
    422,
    () => `lists more than ${limits.CHANGED_FILES_MAX} files: leave paths out`,
  ),
  CHANGED_PATH_LENGTH_MAX: limit(limits.CHANGED_PATH_LENGTH_MAX, 'characters of the path of one', 422, () =>
    tooLong(limits.CHANGED_PATH_LENGTH_MAX),
  ),
  SENT_PULL_REQUESTS_MAX: limit(
    limits.SENT_PULL_REQUESTS_MAX,
    'pull requests that an import sends at a time',
    422,
    () => `lists more than ${limits.SENT_PULL_REQUESTS_MAX} pull requests: send them in several requests`,
  ),
  CHECKED_NAMES_MAX: limit(
    limits.CHECKED_NAMES_MAX,
    'names in a check of quarantines or in a split',
    422,
    () => `holds more than ${limits.CHECKED_NAMES_MAX} names: send several requests`,
  ),
  JSON_BODY_VALUES_MAX: limit(
    limits.JSON_BODY_VALUES_MAX,
    'values in a JSON body',
    422,
    () => `holds more than ${limits.JSON_BODY_VALUES_MAX} JSON values: send several requests`,
  ),
  REASON_LENGTH_MAX: limit(limits.REASON_LENGTH_MAX, 'characters of the reason of a quarantine', 422, () =>
    tooLong(limits.REASON_LENGTH_MAX),
  ),
  QUARANTINES_MAX: limit(
    limits.QUARANTINES_MAX,
    'open quarantines of a repository that people made',
    422,
    () =>
      `is one more than the ${limits.QUARANTINES_MAX} quarantines that people and clients may have open in a repository: remove some, or quarantine automatically`,
  ),
  QUARANTINES_BYTES_MAX: limit(
    limits.QUARANTINES_BYTES_MAX,
    'bytes of their names, reasons and terms together',
    422,
    () =>
      `is too long beside the others: the quarantines of a repository may have ${inMebibytes(limits.QUARANTINES_BYTES_MAX)} of names, reasons and terms together; give shorter reasons`,
  ),
  QUARANTINES_COST_MAX: limit(
    limits.QUARANTINES_COST_MAX,
    'cost of all their branch patterns (note 2)',
    422,
    () =>
      `is too expensive beside the patterns of other quarantines: those of a repository may cost ${limits.QUARANTINES_COST_MAX} together, and each costs its characters from the first wildcard to the last`,
  ),
  QUARANTINES_ALL_MAX: limit(
    limits.QUARANTINES_ALL_MAX,
    'open quarantines of a repository, automatic ones too',
    'no automatic one',
    () => `a repository may have ${limits.QUARANTINES_ALL_MAX} open quarantines`,
  ),
  QUARANTINE_OWNER_LENGTH_MAX: limit(
    limits.QUARANTINE_OWNER_LENGTH_MAX,
    'characters of the owner of a quarantine',
    422,
    () => tooLong(limits.QUARANTINE_OWNER_LENGTH_MAX),
  ),
  WEB_ADDRESS_BYTES_MAX: limit(
    limits.WEB_ADDRESS_BYTES_MAX,
    'bytes of the address of a CI job or a ticket',
    422,
    () => `must be a web address (http or https) of at most ${limits.WEB_ADDRESS_BYTES_MAX} bytes`,
  ),
  QUARANTINE_FAILURES_MAX: limit(
    limits.QUARANTINE_FAILURES_MAX,
    'failure groups of a quarantine',
    422,
    () => `names more than ${limits.QUARANTINE_FAILURES_MAX} failure groups: quarantine the test for every failure`,
  ),
  VIEW_NAME_LENGTH_MAX: limit(limits.VIEW_NAME_LENGTH_MAX, 'characters of the name of a view', 422, () =>
    tooLong(limits.VIEW_NAME_LENGTH_MAX),
  ),
  VIEW_QUERY_LENGTH_MAX: limit(limits.VIEW_QUERY_LENGTH_MAX, 'characters of the query of a view', 422, () =>
    tooLong(limits.VIEW_QUERY_LENGTH_MAX),
  ),
  VIEWS_MAX: limit(
    limits.VIEWS_MAX,
    'views of a repository that a person or a key has; the same for everyone',
    422,
    () => `is one more than the ${limits.VIEWS_MAX} views that you, or everyone, may have: delete some`,
  ),
  VIEWS_ALL_MAX: limit(
    limits.VIEWS_ALL_MAX,
    'views of a repository, of everyone together',
    422,
    () => `is one more than the ${limits.VIEWS_ALL_MAX} views that a repository may have: delete some`,
  ),
  METADATA_BYTES_MAX: limit(
    limits.METADATA_BYTES_MAX,
    'bytes of the metadata of an event as JSON',
    'a dead letter',
    (bytes: number) => `has ${bytes} bytes as JSON; at most ${limits.METADATA_BYTES_MAX} are kept`,
  ),
  METADATA_DEPTH_MAX: limit(
    limits.METADATA_DEPTH_MAX,
    'levels of that metadata',
    'a dead letter',
    () => `is nested deeper than ${limits.METADATA_DEPTH_MAX} levels`,
  ),
};

/** A limit as a row of docs/api.md. */
export const rowOf = (name: string, { most, of, beyond }: Omit<Limit<[]>, 'sentence'>): string =>
  `| \`${name}\` | ${most.toLocaleString('en-US')} | ${of} | ${beyond} |`;
