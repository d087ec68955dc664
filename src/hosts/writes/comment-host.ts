/** What the comment on a pull request needs of a repository host: one file in the folder of each. */
import { HostError } from '../api/host-error.ts';
import type { MarkerStyle } from './marker.ts';

export interface HostComment {
  id: string;
  body: string;
}

/** One pull request there, as one token sees it. Every method throws a HostError. */
export interface CommentHost {
  /** `pull request 7`, `merge request 7` */
  readonly subject: string;
  readonly marker: MarkerStyle;
  /** Its newest commit, which may be abbreviated. */
  head(): Promise<string>;
  /** Comments that this token wrote, the oldest first. Those of others never count, whatever is in them. */
  ownComments(): Promise<HostComment[]>;
  create(body: string): Promise<void>;
  update(id: string, body: string): Promise<void>;
  /** One that is gone already is as good as removed. */
  remove(id: string): Promise<void>;
  /** Whether a person deleted a comment of this token since then; false where the host keeps no record of it. */
  wasDeletedSince(at: number): Promise<boolean>;
}

/** One that is gone is as good as removed. */
export async function unlessGone(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!(error instanceof HostError && error.status === 404)) throw error;
  }
}
