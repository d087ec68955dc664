/**
 * The interface of a report format, which is a folder here and a line in `formats.ts`. The route, its OpenAPI
 * description and the command `push <name>` follow from that line. What all formats share is in `../reports`: forms,
 * gzip, the run, limits and resends.
 */
import type { Report } from './report.ts';

export interface ReportFormat {
  /** The last part of the upload's path, and the subcommand of `push`. Part of every source key: it never changes. */
  readonly name: string;
  /** Shown before the word "report", such as "JUnit XML". */
  readonly title: string;
  /** For the API document and the command line: which tools write these reports, and how. */
  readonly description: string;
  /** The files that `push` takes from a folder. */
  readonly globs: readonly string[];
  /** Absent unless the files of a folder are one report. */
  readonly folder?: ReportFolder;
  /** Whether paths of attachments in a report begin where the report is, and not where the tests ran. */
  readonly hasFilesBeside?: boolean;
  /** The first is what `push` sends. `application/vnd.acme+xml` counts as `application/xml`. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** For the API document. */
  readonly example: { readonly file: string; readonly text: string };
  /**
   * Reads a body into `report`, piece by piece. Throws InvalidUpload if the body is in another format. If it is cut
   * short, what was complete is kept, with a warning. The parser is loaded with the first body: a client that only
   * sends reports starts without it.
   */
  parse(body: Uint8Array, report: Report): Promise<void>;
  /**
   * Whether a body is a whole document of another kind, such as the summary that Failsafe writes beside its reports. What
   * is empty or cut short is not: it may have been a report.
   */
  isOther(body: Uint8Array): Promise<boolean>;
}

/** Files of a folder that are one report, such as a file for each test. */
interface ReportFolder {
  isPart(name: string): boolean;
  /** The body of the report. Throws UploadTooLarge. */
  packed(files: readonly { name: string; bytes: Uint8Array }[]): Uint8Array;
}
