/**
 * Looks up known advisories of the installed dependencies at the package registry. One of high or critical severity fails
 * the step, unless `ACCEPTED` names it with the reason why it does not matter here. A registry that does not answer such
 * questions is no failure, but then nothing was checked, and the output says so.
 */
import { z } from 'zod';

/** By the advisory's address; remove an entry with the dependency that needs it. */
const ACCEPTED: Readonly<Record<string, string>> = {};

const SEVERE = ['high', 'critical'];

const reportSchema = z.record(
  z.string(),
  z.array(z.object({ url: z.string(), title: z.string(), severity: z.string(), vulnerable_versions: z.string() })),
);

export interface Judged {
  lines: string[];
  isFailed: boolean;
}

/** Reads the registry's answer: a line for each advisory. */
export function judgeReport(report: unknown, accepted = ACCEPTED): Judged {
  const advisories = Object.entries(reportSchema.parse(report)).flatMap(([name, found]) =>
    found.map((advisory) => ({ name, ...advisory, reason: accepted[advisory.url] })),
  );
  const isSevere = ({ severity, reason }: { severity: string; reason: string | undefined }) =>
    SEVERE.includes(severity) && reason === undefined;
  const lines = advisories.map(
    ({ name, severity, title, url, vulnerable_versions, reason }) =>
      `${severity}: ${name} ${vulnerable_versions}: ${title} (${url})${reason === undefined ? '' : `; accepted: ${reason}`}`,
  );
  const count = advisories.filter(isSevere).length;
  lines.push(`${advisories.length} known advisories, ${count} of them severe and not accepted.`);
  return { lines, isFailed: count > 0 };
}

/** From what `bun audit --json` printed. */
export function judgeOutput(printed: string, problem: string): Judged {
  const text = printed.slice(Math.max(0, printed.indexOf('{')));
  try {
    return judgeReport(JSON.parse(text));
  } catch {
    const status = / - (\d{3})\b/.exec(problem)?.[1];
    const why = status === undefined ? 'gave no usable answer' : `answered ${status}`;
    return {
      lines: [`NOT AUDITED: the package registry ${why} when asked for advisories. No dependency was checked.`],
      isFailed: false,
    };
  }
}

if (import.meta.main) {
  const { stdout, stderr } = Bun.spawnSync([process.execPath, 'audit', '--json']);
  const { lines, isFailed } = judgeOutput(stdout.toString(), stderr.toString());
  for (const line of lines) console.log(line);
  process.exit(isFailed ? 1 : 0);
}
