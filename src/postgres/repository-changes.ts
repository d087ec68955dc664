/** Changes of a repository as the trail and the event log describe them. */
import { type AuditActor, changeOf } from '../domain/audit.ts';
import { type EventActor, type NewEvent, newEvent } from '../domain/events.ts';
import { type AutoQuarantineMode, autoQuarantineChange } from '../domain/quarantine-rules.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { Settings } from '../domain/repository-settings.ts';

/** A repository as the trail names it. */
export const deedOf = ({ id, owner, name }: RepositoryName & { id: string }) => ({
  objectId: id,
  objectName: `${owner}/${name}`,
  owner,
  repository: name,
});
export const pathOf = ({ owner, name }: RepositoryName) => ({ owner, name });

/** Who does something, as the trail and as events name them. */
export interface Doer {
  /** The trigger of events. */
  name: string;
  actor: EventActor;
  audit: AuditActor;
}

/** For who is neither a key nor a person: events call a command or a rule of the service an application. */
export const doerOf = (audit: AuditActor): Doer => ({
  name: audit.name,
  actor: { type: 'application', id: null, name: audit.name },
  audit,
});

interface Trigger {
  trigger: string;
  actor: EventActor;
  now: number;
}

/** The mode of automatic quarantine has separate events. */
export function settingsEvents(before: Settings, after: Settings, by: Trigger): NewEvent[] {
  const { auto_quarantine: modeBefore, ...previous } = before;
  const { auto_quarantine: mode, ...others } = after;
  const modeChange = autoQuarantineChange(modeBefore, mode);
  const change = changeOf(previous, others);
  return [
    ...(modeChange ? [autoQuarantineEvent(modeChange, modeBefore, mode, by)] : []),
    ...(change
      ? [
          newEvent(
            'repository.settings.updated',
            { ...change, updated_by: by.actor, updated_at: new Date(by.now).toISOString() },
            { trigger: by.trigger },
          ),
        ]
      : []),
  ];
}

function autoQuarantineEvent(
  change: 'enabled' | 'disabled' | 'modified',
  before: AutoQuarantineMode,
  after: AutoQuarantineMode,
  { trigger, actor: by, now }: Trigger,
): NewEvent {
  const at = new Date(now).toISOString();
  const attributesOf = (mode: AutoQuarantineMode) => ({ ignore_broken_on_default_branch: mode !== 'flaky+broken' });
  const modes = { mode: after, previous_mode: before };
  switch (change) {
    case 'enabled':
      return newEvent(
        'ci_insights.auto_quarantine.enabled',
        { ...modes, enabled_by: by, enabled_at: at, auto_quarantine_config_attributes: attributesOf(after) },
        { trigger },
      );
    case 'disabled':
      return newEvent(
        'ci_insights.auto_quarantine.disabled',
        { ...modes, disabled_by: by, disabled_at: at, auto_quarantine_config_attributes: attributesOf(before) },
        { trigger },
      );
    case 'modified':
      return newEvent(
        'ci_insights.auto_quarantine.modified',
        {
          ...modes,
          updated_by: by,
          updated_at: at,
          auto_quarantine_config_attributes_before: attributesOf(before),
          auto_quarantine_config_attributes_after: attributesOf(after),
        },
        { trigger },
      );
  }
}
