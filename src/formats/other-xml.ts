/** Tells XML documents of another kind from reports: folders of reports hold coverage, summaries and build files, too. */
import sax from 'sax';
import { XmlFeed } from './xml-feed.ts';
import { decodedPieces } from './xml-text.ts';

class IsReport extends Error {}

/** Whether the body is well-formed XML with a root that is not one of these. */
export function isOtherXml(body: Uint8Array, roots: readonly string[]): boolean {
  const parser = sax.parser(true, { position: false });
  let hasRoot = false;
  parser.onopentagstart = ({ name }) => {
    if (!hasRoot && roots.includes(name)) throw new IsReport();
    hasRoot = true;
  };
  parser.onerror = (error) => {
    // A DTD may define the entity.
    if (!error.message.startsWith('Invalid character entity')) throw error;
    parser.resume();
  };
  const feed = new XmlFeed(parser, () => {});
  try {
    for (const piece of decodedPieces(body, { noticeReplaced: () => {} })) {
      feed.write(piece);
      parser.flush();
    }
    parser.close();
    return hasRoot;
  } catch {
    return false;
  }
}
