/** Where a reader chooses the scheme of colours, the zone of times and the height of rows. This browser keeps the choice. */
import { useState } from 'react';
import { chooseDensity, useDensity } from './density.ts';
import { chosenScheme, chosenZone, keep, ZONE_KEY } from './display.ts';
import { MenuButton } from './menu.tsx';
import { chooseScheme } from './scheme.ts';

export function DisplayMenu() {
  const [scheme, setScheme] = useState(chosenScheme);
  const density = useDensity();
  return (
    <MenuButton
      label="Display"
      title="Display"
      className="button px-2 text-soft"
      groups={[
        {
          title: 'Colours',
          chosen: [scheme ?? 'system'],
          items: [
            { id: 'system', label: 'As the system' },
            { id: 'light', label: 'Light' },
            { id: 'dark', label: 'Dark' },
          ],
          onChoose: (id) => {
            const chosen = id === 'light' || id === 'dark' ? id : undefined;
            setScheme(chosen);
            chooseScheme(chosen);
          },
        },
        {
          title: 'Time zone',
          chosen: [chosenZone() ?? 'local'],
          items: [
            { id: 'local', label: 'Of this computer' },
            { id: 'UTC', label: 'UTC', hint: 'What is counted by day is always by UTC days' },
          ],
          onChoose: (id) => chooseZone(id === 'UTC' ? id : undefined),
        },
        {
          title: 'Rows of tables',
          chosen: [density],
          items: [
            { id: 'roomy', label: 'Roomy' },
            { id: 'dense', label: 'Dense' },
          ],
          onChoose: (id) => chooseDensity(id === 'dense' ? id : 'roomy'),
        },
      ]}
    >
      <span aria-hidden="true">◐</span>
    </MenuButton>
  );
}

/** Every time on the page is written again, so the page starts again. */
function chooseZone(zone: 'UTC' | undefined): void {
  if (zone === chosenZone()) return;
  keep(ZONE_KEY, zone);
  window.location.reload();
}
