/**
 * What a report format is to the rest of the service: a folder here, and one line in `formats.ts`. The route, its OpenAPI
 * description and the command `push <name>` come from that line; forms, gzip, the run, limits and resends are handled for all
 * formats in `../reports`.
 */
import type { Report } from './report.ts';

export interface ReportFormat {
  /** The last part of the upload's path, and the subcommand of `push`. Part of every source key: it never changes. */
  readonly name: string;
  /** For people, in front of "report": "JUnit XML". */
  readonly title: string;
  /** One or two sentences for the API document and the command line: which tools write it, and how. */
  readonly description: string;
  /** Files that `push` takes from a folder. */
  readonly globs: readonly string[];
  /** The first is what `push` sends. `application/vnd.acme+xml` counts as `application/xml`. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** For the API document. */
  readonly example: { readonly file: string; readonly text: string };
  /**
   * Reads a report into `report`, a piece at a time. Throws InvalidUpload for a body that is in another format; a report that is
   * cut short keeps what it held until then, with a warning.
   */
  parse(body: Uint8Array, report: Report): Promise<void>;
}
