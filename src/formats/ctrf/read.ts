/** The parser of the Common Test Report Format. */
import { z } from 'zod';
import { WrongFormat } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { readJson } from '../json.ts';
import { isOtherJson } from '../other-json.ts';
import { asUtf8 } from '../utf8.ts';
import { CtrfVisitor } from './visitor.ts';

export const readCtrf: ReportFormat['parse'] = async (body, report) => {
  const visitor = new CtrfVisitor(report);
  const breakage = await readJson(asUtf8(body, report), visitor);
  if (!visitor.isCtrf)
    throw new WrongFormat(
      `The body is not a CTRF JSON report: ${breakage === null ? 'it has no list results.tests' : `it ${breakage}`}.`,
    );
  visitor.finish(breakage);
};

export const isOtherCtrf = (body: Uint8Array): boolean =>
  isOtherJson(body, (value) => reportSchema.safeParse(value).success);

const reportSchema = z.object({ results: z.object({ tests: z.array(z.unknown()) }) });
