/** The report formats. A new one is a folder here and a line in this list. */

import { allure } from './allure/format.ts';
import { bazel } from './bazel/format.ts';
import { ctrf } from './ctrf/format.ts';
import { cucumber } from './cucumber/format.ts';
import type { ReportFormat } from './format.ts';
import { goTest } from './go-test/format.ts';
import { junit } from './junit/format.ts';
import { nunit } from './nunit/format.ts';
import { playwright } from './playwright/format.ts';
import { robot } from './robot/format.ts';
import { tap } from './tap/format.ts';
import { testng } from './testng/format.ts';
import { trx } from './trx/format.ts';
import { xunit } from './xunit/format.ts';

export const FORMATS: readonly ReportFormat[] = [
  junit,
  playwright,
  goTest,
  trx,
  nunit,
  xunit,
  testng,
  robot,
  cucumber,
  ctrf,
  allure,
  tap,
  bazel,
];
