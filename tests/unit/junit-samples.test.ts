/** Reports of other projects, which are not ours to copy: read where they lie beside the checkout, skipped elsewhere. */
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { InvalidUpload } from '../../src/formats/errors.ts';
import { junit } from '../../src/formats/junit/format.ts';
import type { ParsedUpload } from '../../src/formats/upload.ts';
import { parseReports } from '../../src/ingest/reports/parse.ts';
import type { ReportQuery } from '../../src/ingest/reports/query.ts';

const FOLDER = fileURLToPath(new URL('../../../shared/samples/junit', import.meta.url));

interface Expected {
  passed?: number;
  failed?: number;
  skipped?: number;
  rejected?: number;
  framework?: string;
  warning?: string;
}

/** Contents of each file, counted by hand or by its own totals; null: it is refused. */
const EXPECTED: Record<string, Expected | null> = {
  'bazel-suite-logs.xml': { failed: 1 },
  'jest-jest-junit.xml': { passed: 2, framework: 'jest' },
  'minimal-attributes.xml': { passed: 1, skipped: 1, failed: 2 },
  'mocha-latex-utensils.xml': { passed: 109, framework: 'mocha' },
  'no-attributes.xml': { rejected: 4 },
  'no-cases.xml': { framework: 'pytest' },
  'non-junit.xml': null,
  'pytest-corrupt-xml.xml': { passed: 1, framework: 'pytest', warning: 'is cut short at line 11 within <skipped>' },
  'pytest-junit.fail.xml': { passed: 3, skipped: 1, failed: 1, framework: 'pytest' },
  'pytest-junit.gloo.standalone.xml': { passed: 80, skipped: 17, framework: 'pytest' },
  'pytest-junit.spark.integration.1.xml': { passed: 33, skipped: 2, framework: 'pytest' },
  'pytest-junit.spark.integration.2.xml': { passed: 33, skipped: 2, framework: 'pytest' },
  'scalatest-TEST-uk.co.gresearch.spark.diff.DiffOptionsSuite.xml': { passed: 5 },
  'testsuite-in-testsuite.xml': { passed: 5, framework: 'phpunit' },
  'trunk-junit1_fail.xml': { failed: 2 },
  'trunk-junit1_pass.xml': { passed: 2 },
  'trunk-test1.junit.xml': { passed: 17 },
  'with-xml-entities.xml': { skipped: 2, failed: 2 },
};

const QUERY: ReportQuery = {
  pipeline_name: 'CI',
  job_name: 'unit',
  run_id: '1',
  run_attempt: undefined,
  commit: undefined,
  branch: undefined,
  pull_request: undefined,
  default_branch: undefined,
  started_at: undefined,
  report: undefined,
};

const parse = async (name: string): Promise<ParsedUpload> =>
  parseReports(junit, [{ name, body: await Bun.file(`${FOLDER}/${name}`).bytes() }], QUERY);

function summaryOf({ runs, rejections, warnings }: ParsedUpload): Expected {
  const executions = runs.flatMap((run) => run.executions);
  const summary: Expected = {};
  for (const { status } of executions) summary[status] = (summary[status] ?? 0) + 1;
  const rejected = rejections.reduce((sum, { count }) => sum + count, 0);
  const framework = runs[0]?.run.framework;
  if (rejected > 0) summary.rejected = rejected;
  if (framework) summary.framework = framework;
  if (warnings[0]) summary.warning = warnings[0];
  return summary;
}

if (!existsSync(FOLDER)) test.skip(`skipped: the sample reports are not here (${FOLDER})`, () => {});
else
  describe('reports of other projects', () => {
    test.each(readdirSync(FOLDER).sort())('%s is read or refused as its name says', async (name) => {
      expect(EXPECTED).toHaveProperty([name]);
      const expected = EXPECTED[name];
      if (!expected) {
        await expect(parse(name)).rejects.toThrow(InvalidUpload);
        return;
      }
      const upload = await parse(name);
      const { warning, ...summary } = summaryOf(upload);
      const { warning: expectedWarning, ...expectedSummary } = expected;
      expect(summary).toEqual(expectedSummary);
      expect(warning ?? '').toContain(expectedWarning ?? '');
      const keys = upload.runs.flatMap((run) => run.executions.map(({ source, key }) => `${source}\n${key}`));
      expect(new Set(keys).size).toBe(keys.length);
    });
  });
