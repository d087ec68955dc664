/** Who runs a command on the server, for the trail: the command, and the user of the system. */
import { userInfo } from 'node:os';
import type { AuditActor } from '../domain/audit.ts';

/** @param command such as `keys create` */
export const operatorOf = (command: string): AuditActor => ({
  kind: 'command',
  name: `ci-insights ${command}`,
  subject: userName(),
});

/** A container may run under a number that has no name. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return process.getuid ? `uid ${process.getuid()}` : null;
  }
}
