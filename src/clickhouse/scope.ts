/** Statements about everything or about one repository. */

export const scope = { is_all: 'Bool', repository_id: 'UUID' } as const;

/** An id that nothing has. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

export const scopeOf = (repositoryId?: string) => ({
  is_all: repositoryId === undefined,
  repository_id: repositoryId ?? NIL_ID,
});
