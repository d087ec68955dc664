/** The parameters of statements that look at everything or at one repository. */

export const scope = { is_all: 'Bool', repository_id: 'UUID' } as const;

/** An id that nothing has; it sorts before all others. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

export const scopeOf = (repositoryId?: string) => ({
  is_all: repositoryId === undefined,
  repository_id: repositoryId ?? NIL_ID,
});
