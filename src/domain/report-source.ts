/** The sources of a repository's results: its default branch, pull requests, and other branches. */
export const REPORT_SOURCES = ['default_branch', 'pull_request', 'other_branch'] as const;
export type ReportSource = (typeof REPORT_SOURCES)[number];

/** When the newest execution of each finished; milliseconds since the epoch, 0 if there is none. */
export type ReportedAt = Readonly<Record<ReportSource, number>>;
export const NOTHING_REPORTED: ReportedAt = { default_branch: 0, pull_request: 0, other_branch: 0 };
