/** Files that tests name in what they print: `[[ATTACHMENT|shots/cart.png]]`, as Jenkins and GitLab read it. */
import { FILES_MAX, type ReportedFile } from '../attachments.ts';

const BEGIN = '[[ATTACHMENT|';
const END = ']]';
const PATH_LENGTH_MAX = 2_048;

export class AttachmentMarks {
  readonly files: ReportedFile[] = [];
  /** The end of the text so far that may begin a mark. */
  #open = '';

  /** A piece of what was printed. */
  add(piece: string): void {
    const text = this.#open + piece;
    let at = 0;
    for (;;) {
      const begin = text.indexOf(BEGIN, at);
      if (begin < 0) break;
      const end = text.indexOf(END, begin);
      if (end < 0) {
        this.#open = text.length - begin > PATH_LENGTH_MAX ? '' : text.slice(begin);
        return;
      }
      const path = text.slice(begin + BEGIN.length, end).trim();
      if (path !== '' && this.files.length < FILES_MAX) this.files.push({ path });
      at = end;
    }
    const last = text.lastIndexOf('[[');
    const rest = text.slice(last < at ? text.length : last);
    this.#open = rest !== '' && BEGIN.startsWith(rest) ? rest : text.endsWith('[') && at < text.length ? '[' : '';
  }
}

/** Properties of a test that name a file: Playwright and TestRail write them. */
export const namesFile = (property: string): boolean =>
  /^(?:testrail_)?attachment(?:s?|[.:]\S{1,100})$/i.test(property);
