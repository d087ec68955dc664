/** Finds out what a file is, by its content: a report of ours, or one of a tool that can write another. */
import { InvalidUpload, WrongFormat } from './errors.ts';
import { jsonHint } from './foreign-json.ts';
import type { ReportFormat } from './format.ts';
import { FORMATS } from './formats.ts';
import type { Report } from './report.ts';
import { asUtf8 } from './utf8.ts';
import { xmlHint } from './xml.ts';

/** The beginning of a report tells what it is. */
const HEAD_BYTES = 64 * 1024;
const ROOT = /<([A-Za-z_][\w.:-]{0,100})/;

interface Head {
  text: string;
  kind: 'xml' | 'json' | 'text';
}

function headOf(body: Uint8Array): Head {
  const utf8 = asUtf8(body.subarray(0, HEAD_BYTES), { noticeReplaced: () => {} });
  const text = new TextDecoder().decode(utf8).trimStart();
  const kind = text.startsWith('<') ? 'xml' : /^[{[]/.test(text) ? 'json' : 'text';
  return { text, kind };
}

/** The format of a report, by its content; null for what is none, or for one that is too broken to tell. */
export async function formatOf(body: Uint8Array): Promise<ReportFormat | null> {
  const head = headOf(body);
  // The beginning is enough for XML, also if the report is cut short.
  if (head.kind === 'xml') return only('xml', Buffer.from(`<${rootOf(head)}/>`), rootOf(head) !== '');
  if (body[0] === 0x50 && body[1] === 0x4b) return only('zip', body, true);
  const whole = head.kind === 'json' ? await only('json', body, true) : null;
  if (whole) return whole;
  const line = firstObject(head.text);
  return (
    (await only('json', Buffer.from(line), line !== '')) ??
    (head.kind === 'json' ? only('json', body, true) : only('plain', body, head.text !== ''))
  );
}

const rootOf = ({ text }: Head): string => ROOT.exec(text)?.[1] ?? '';

/** The first line with an object or a list: reports of one value in each line need no more. */
function firstObject(text: string): string {
  const found = /^[{[].*[}\]][ \r]*$/m.exec(text);
  return found?.[0] ?? '';
}

/** The one format of this kind that the body is of; null if there are several, as of what cannot be read. */
async function only(kind: string, body: Uint8Array, isAsked: boolean): Promise<ReportFormat | null> {
  if (!isAsked) return null;
  const found: ReportFormat[] = [];
  for (const format of FORMATS)
    if (format.mediaTypes.some((type) => type.includes(kind)) && !(await format.isOther(body))) found.push(format);
  // One object of a list has little that only its format has, so any other format is the more likely one.
  const sure = found.length > 1 ? found.filter(({ name }) => name !== 'allure') : found;
  const [first, ...others] = sure;
  return first && others.length === 0 ? first : null;
}

/** Such as `a mochawesome report: …`, with how to get a report that is taken; null if it is not known. */
export async function whatIs(body: Uint8Array): Promise<string | null> {
  const format = await formatOf(body);
  if (format) return `in the format ${format.title}, which has its own address, …/${format.name}`;
  const head = headOf(body);
  return head.kind === 'xml' ? xmlHint(rootOf(head)) : jsonHint(head.text);
}

/** Reads a body as a report of this format. If it is one of another, the refusal says which. */
export async function readReport(format: ReportFormat, body: Uint8Array, report: Report): Promise<void> {
  try {
    await format.parse(body, report);
  } catch (error) {
    if (!(error instanceof WrongFormat)) throw error;
    const what = await whatIs(body);
    throw what === null ? error : new InvalidUpload(`${error.message} It is ${what}.`, { cause: error });
  }
}
