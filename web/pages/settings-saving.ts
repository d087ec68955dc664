/** Saves settings of a repository, and shows them as they are then. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SettingsChange } from '../../src/operate/repository-settings.ts';
import { changeSettings, hostQuery, type RepositoryPath, settingsQuery } from '../api/queries.ts';

export function useSaving(path: RepositoryPath) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: SettingsChange) => changeSettings(path, change),
    onSuccess: ({ body: { needs_rebuild: _, ...settings } }) => {
      client.setQueryData(settingsQuery(path).queryKey, settings);
      // Links follow a new host.
      void client.invalidateQueries({ queryKey: hostQuery(path).queryKey });
    },
  });
}
