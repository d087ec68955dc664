/** Events that hosts tell in different words but alike: reviews and commands in comments. */
import { type NewEvent, newEvent } from '../../domain/events.ts';
import { type EventBase, noEvent, type Outcome, withEvents } from './outcome.ts';
import { queueCommandOf } from './queue-command.ts';
import { fitMessage, fitName } from './texts.ts';

/** Review types: in the words of the host that the log keeps, and in those of the public interface. */
export const REVIEWS = {
  approved: { type: 'approved', review_type: 'APPROVE' },
  changes_requested: { type: 'changes_requested', review_type: 'REQUEST_CHANGES' },
  commented: { type: 'commented', review_type: 'COMMENT' },
} as const;

export const reviewEvent = (
  review: keyof typeof REVIEWS,
  reviewer: string | null,
  base: EventBase,
  message: string | null = null,
): NewEvent =>
  newEvent(
    'action.review',
    {
      ...REVIEWS[review],
      reviewer: reviewer === null ? null : fitName(reviewer),
      message: message ? fitMessage(message) : null,
    },
    base,
  );

/** Of a new comment on a pull request. */
export function commandOutcome(comment: { id: number; text: string }, base: EventBase): Outcome {
  const command = queueCommandOf(comment.text);
  if (!command) return noEvent('The comment has no queue command.');
  const queue_name = command.queueName === null ? null : fitName(command.queueName);
  const metadata = { command: fitMessage(command.line), queue_name, comment_id: comment.id };
  return withEvents([newEvent(command.type, metadata, base)]);
}
