/**
 * Feeds text to sax, which looks at every character for 20 to 80 ns. What takes most of a report (text, CDATA, comments
 * and the values of attributes) is found by its end instead, a whole run at a time, and put where sax would have
 * collected it. So are declarations, of which sax looks at all that it has for each further character. It sees the rest
 * as it is.
 */
import sax from 'sax';

/** So much at a time of what sax has to look at: then it may have come to a run. */
const STEP_LENGTH = 256;
const CDATA_START = '<![CDATA[';
const CDATA_END = ']]>';
const COMMENT_START = '<!--';
const COMMENT_END = '--';
/** A declaration may still become CDATA or a document type while it is shorter. */
const DECLARATION_LENGTH = '[CDATA['.length;

/** State of sax that its types leave out. */
interface SaxState {
  state: number;
  sawRoot: boolean;
  closedRoot: boolean;
  /** The quote that ends the value of the attribute. */
  q: string;
  textNode: string;
  cdata: string;
  attribValue: string;
  sgmlDecl: string;
  /** The beginning of it while it is open; true after it. */
  doctype: string | boolean;
  line: number;
  position: number;
}

/** A reference as XML has them, whether its entity is known or not. */
const REFERENCE = /&(?:#\d{1,10}|#x[\da-f]{1,8}|[a-z_:][\w:.-]{0,63});/iy;
/** The beginning of a text that may still become one. */
const REFERENCE_BEGUN = /&(?:#\d{0,10}|#x[\da-f]{0,8}|[a-z_:][\w:.-]{0,63})?$/iy;
/** A character that begins nothing costs as much as so many of markup. */
const CHARACTER_MARKUP = 64;
/**
 * In a longer report, what is kept of a piece is copied. A slice keeps all of its piece alive, which takes two bytes for
 * each character if one of them needs two: of 200 MiB, 900 MiB were in use, and 500 MiB with copies.
 */
const SLICES_LENGTH_MAX = 8 * 1024 * 1024;
/** A character is at most three bytes. */
const COPY_LENGTH_MAX = 64 * 1024;
/** Characters that may follow a `<` that opens something. */
const AFTER_OPENING = /[a-z_:/!?\u0080-\uffff]/i;

const { STATE } = sax as unknown as { STATE: Readonly<Record<string, number>> };

export class XmlFeed {
  readonly #state: SaxState;
  #text = '';
  /** Where each character comes next in the text, as far as it was looked for. */
  readonly #next = new Map<string, number>();
  /** The end of the text so far, if what follows decides what it is. */
  #held = '';
  #length = 0;
  #copyBytes: Buffer | undefined;

  /**
   * @param onMarkup told how many characters sax is about to look at
   * @param isLenient whether to take `&` and `<` that begin nothing for the characters they are, as in reports that
   *   scripts write, and to pass over text behind the root
   */
  constructor(
    private readonly parser: sax.SAXParser,
    private readonly onMarkup: (length: number) => void,
    private readonly isLenient = false,
  ) {
    this.#state = parser as unknown as SaxState;
  }

  /** @param isLast whether no more text follows */
  write(piece: string, isLast = false): void {
    const text = this.#held + piece;
    this.#length += piece.length;
    this.#held = '';
    this.#text = text;
    this.#next.clear();
    for (let at = 0; at < text.length; )
      at = this.#takeRun(at) ?? (this.isLenient ? this.#takeCharacter(at, isLast) : undefined) ?? this.#step(at);
  }

  /** Takes an `&` or `<` that begins nothing as the character it is, and returns where the text continues. */
  #takeCharacter(at: number, isLast: boolean): number | undefined {
    const { state, sawRoot, closedRoot } = this.#state;
    const isText = state === STATE.TEXT && sawRoot && !closedRoot;
    const text = this.#text;
    if (text[at] === '<' && isText) {
      if (at + 1 === text.length) return isLast ? undefined : this.#hold(at);
      if (AFTER_OPENING.test(text[at + 1] ?? '')) return undefined;
      return this.#give('&lt;', at);
    }
    if (text[at] !== '&' || !(isText || state === STATE.ATTRIB_VALUE_QUOTED)) return undefined;
    REFERENCE.lastIndex = at;
    if (REFERENCE.test(text)) return undefined;
    REFERENCE_BEGUN.lastIndex = at;
    return !isLast && REFERENCE_BEGUN.test(text) ? this.#hold(at) : this.#give('&amp;', at);
  }

  #hold(at: number): number {
    this.#held = this.#text.slice(at);
    return this.#text.length;
  }

  #give(reference: string, at: number): number {
    this.onMarkup(CHARACTER_MARKUP);
    this.parser.write(reference);
    return at + 1;
  }

  /** Takes the run that begins here, and returns its end; undefined if there is none. */
  #takeRun(at: number): number | undefined {
    const state = this.#state;
    const text = this.#text;
    let end = at;
    if (state.state === STATE.TEXT && state.sawRoot && !state.closedRoot) {
      end = Math.min(this.#nextOf('<', at), this.#nextOf('&', at));
      if (end > at) state.textNode += this.#taken(at, end);
    } else if (this.isLenient && state.state === STATE.TEXT && state.closedRoot) {
      end = this.#nextOf('<', at);
    } else if (state.state === STATE.ATTRIB_VALUE_QUOTED) {
      end = Math.min(this.#nextOf(state.q, at), this.#nextOf('&', at));
      if (end > at) state.attribValue += this.#taken(at, end);
    } else if (state.state === STATE.CDATA) {
      end = this.#endBefore(CDATA_END, at);
      if (end > at) state.cdata += this.#taken(at, end);
      // The text of a comment is of no use.
    } else if (state.state === STATE.COMMENT) end = this.#endBefore(COMMENT_END, at);
    else if (state.state === STATE.SGML_DECL && this.#isDeclaration()) {
      end = Math.min(this.#nextOf('>', at), this.#nextOf('"', at), this.#nextOf("'", at));
      if (end > at) state.sgmlDecl += text.slice(at, end);
    }
    if (end === at) return undefined;
    state.position += end - at;
    for (let line = this.#nextOf('\n', at); line < end; line = this.#nextOf('\n', line + 1)) state.line++;
    // sax checks how long a value has grown when it is given something.
    if (end === text.length) this.parser.write('');
    return end;
  }

  #taken(start: number, end: number): string {
    const slice = this.#text.slice(start, end);
    if (this.#length <= SLICES_LENGTH_MAX || slice.length > COPY_LENGTH_MAX) return slice;
    // Used again for each: it takes a third of the time.
    this.#copyBytes ??= Buffer.allocUnsafe(3 * COPY_LENGTH_MAX);
    return this.#copyBytes.toString('utf8', 0, this.#copyBytes.write(slice));
  }

  #isDeclaration(): boolean {
    const { sgmlDecl, doctype } = this.#state;
    return sgmlDecl.length >= DECLARATION_LENGTH && (doctype === '' || doctype === true);
  }

  /** Where the text of a run ends; what may be the beginning of its end is left to sax. */
  #endBefore(mark: string, at: number): number {
    const found = this.#text.indexOf(mark, at);
    return found >= 0 ? found : Math.max(at, this.#text.length - mark.length + 1);
  }

  /** Lets sax look at what comes, as far as the next run can begin; returns where that is. */
  #step(at: number): number {
    const text = this.#text;
    const end = Math.min(this.#stepEnd(at), at + STEP_LENGTH, text.length);
    this.onMarkup(end - at);
    this.parser.write(text.slice(at, end));
    return end;
  }

  #stepEnd(at: number): number {
    const text = this.#text;
    const { state } = this.#state;
    if (state === STATE.TEXT && text.startsWith(CDATA_START, at)) return at + CDATA_START.length;
    if (state === STATE.TEXT && text.startsWith(COMMENT_START, at)) return at + COMMENT_START.length;
    if (text[at] === '&') return this.#nextOf(';', at) + 1;
    return Math.min(this.#nextOf('"', at), this.#nextOf("'", at), this.#nextOf('>', at)) + 1;
  }

  #nextOf(character: string, at: number): number {
    const known = this.#next.get(character);
    if (known !== undefined && known >= at) return known;
    const found = this.#text.indexOf(character, at);
    const next = found < 0 ? this.#text.length : found;
    this.#next.set(character, next);
    return next;
  }
}
