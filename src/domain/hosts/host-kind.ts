/** What is known of a kind of repository host. */

/**
 * Where a host shows what a repository holds, as templates that begin with `{url}`, the address of the repository. The
 * other names in braces are to be replaced by what is linked to.
 */
export interface LinkTemplates {
  /** With `{commit}`. */
  commit: string;
  /** What changed after `{from}` up to `{to}`. */
  compare: string;
  /** With `{commit}` and `{path}`, whose slashes stay. */
  file: string;
  /** Like `file`, with `{line}`, which counts from 1. */
  line: string;
  /** With `{number}`. */
  pull_request: string;
}

export interface HostKind {
  name: string;
  links: LinkTemplates;
  /** The part of a CI job's address that follows that of its repository; undefined: the host runs none, or none is told. */
  jobMark: string | undefined;
  /** Where people see the host whose identity tokens name this issuer; undefined: nowhere that is known. */
  ofIssuer(issuer: string): string | undefined;
}
