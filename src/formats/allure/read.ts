/** The parser of Allure results: a list of them, one alone, or a zip of the folder. */
import { WrongFormat } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { readJson } from '../json.ts';
import { isOtherJson } from '../other-json.ts';
import { TimeSlice } from '../time-slice.ts';
import { asUtf8 } from '../utf8.ts';
import { filesOfZip, isZip } from '../zip.ts';
import { isPart } from './pack.ts';
import { kindOf } from './schemas.ts';
import { AllureVisitor } from './visitor.ts';

export const readAllure: ReportFormat['parse'] = async (body, report) => {
  const visitor = new AllureVisitor(report);
  const breakage = isZip(body) ? await readZip(body, visitor) : await readJson(asList(asUtf8(body, report)), visitor);
  const isCut = breakage !== null && report.testCount === 0;
  if (!visitor.isAllure || isCut)
    throw new WrongFormat(
      `The body holds no Allure results: ${isCut ? `it ${breakage}` : 'nothing in it has a name and a status'}.`,
    );
  visitor.finish(breakage);
};

/** A file that breaks off, as one that a killed process wrote, costs no other. */
async function readZip(body: Uint8Array, visitor: AllureVisitor): Promise<null> {
  const slice = new TimeSlice();
  for await (const { name, bytes } of filesOfZip(body, isPart)) {
    if (bytes === null || (await readJson(listOfOne(bytes), visitor)) !== null) visitor.warnOfUnreadable(name);
    if (slice.isUsedUp()) await slice.yieldToOthers();
  }
  return null;
}

const listOfOne = (json: Uint8Array): Uint8Array => Buffer.concat([Buffer.from('['), json, Buffer.from(']')]);

const [OPEN_BRACE, OPEN_BRACKET] = [0x7b, 0x5b];

/** One result becomes a list of one. */
function asList(body: Uint8Array): Uint8Array {
  const first = body.find((byte) => byte > 0x20);
  if (first === OPEN_BRACE) return listOfOne(body);
  if (first !== OPEN_BRACKET && first !== undefined)
    throw new WrongFormat('The body holds no Allure results: it is neither JSON nor a zip of a folder of them.');
  return body;
}

export const isOtherAllure = (body: Uint8Array): boolean =>
  !isZip(body) && isOtherJson(body, (value) => [value].flat().some((one) => kindOf(one) !== null));
