/** Names, messages and addresses that want to be more than text, and a repository full of them. */
import { at, type InsightsFixture } from './insights.ts';

export const HOSTILE = [
  '<img src=x onerror="document.title=1"> <script>document.title=1</script>',
  '"><svg onload=alert(1)>',
  `${'very '.repeat(400)}long`,
  '../../../v1/session?x=1#y',
  'עברית العربية 🧪 ‮ reversed',
] as const;

const failure = {
  type: '<b>Error</b>',
  message: '<img src=x onerror="document.title=1">',
  stacktrace: '</pre><script>',
};

/** A run in which each of these fails, and one of a pull request. */
export async function ingestHostile(fixture: InsightsFixture): Promise<void> {
  const executions = HOSTILE.map((name, i) => ({
    name,
    at: at(2 + i),
    status: 'failed' as const,
    failures: [failure],
  }));
  const where = { job_name: '<i>job</i>', job_url: 'javascript:document.title=1' };
  await fixture.ingest(
    fixture.run(executions, { ...where, commit: 'hostile' }),
    fixture.run(executions, { ...where, commit: '<b>', branch: '<b>branch</b>', base_ref: 'main', pull_request: 7 }),
  );
}
