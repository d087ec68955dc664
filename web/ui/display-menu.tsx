/** Where a reader chooses the scheme of colours and the zone of times. */
import { useState } from 'react';
import { Dialog } from './dialog.tsx';
import { chosenScheme, chosenZone, keep, type Scheme, ZONE_KEY, type Zone } from './display.ts';
import { chooseScheme } from './scheme.ts';

const SCHEMES = [
  ['', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const satisfies readonly (readonly [Scheme | '', string])[];
const ZONES = [
  ['', 'Of this computer'],
  ['UTC', 'UTC'],
] as const satisfies readonly (readonly [Zone | '', string])[];

export function DisplayMenu() {
  const [isOpen, setOpen] = useState(false);
  const [scheme, setScheme] = useState(chosenScheme);
  return (
    <>
      <button type="button" className="button px-2 text-soft" onClick={() => setOpen(true)}>
        <span aria-hidden="true">◐</span>
        <span className="sr-only">Display</span>
      </button>
      {isOpen && (
        <Dialog title="Display" onClose={() => setOpen(false)}>
          <div className="flex flex-wrap gap-4">
            <label className="flex flex-col gap-1.5 font-medium">
              Colours
              <select
                className="field w-44"
                value={scheme ?? ''}
                onChange={({ target }) => {
                  const chosen = SCHEMES.find(([one]) => one === target.value)?.[0] || undefined;
                  setScheme(chosen);
                  chooseScheme(chosen);
                }}
              >
                {SCHEMES.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
            <label className="flex flex-col gap-1.5 font-medium">
              Time zone
              <select
                className="field w-44"
                value={chosenZone() ?? ''}
                onChange={({ target }) => chooseZone(ZONES.find(([one]) => one === target.value)?.[0] || undefined)}
              >
                {ZONES.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
          </div>
          <p className="mt-3 text-soft">This browser keeps the choice. What is counted by day is by UTC days.</p>
        </Dialog>
      )}
    </>
  );
}

/** Every time on the page is written again, so the page starts again. */
function chooseZone(zone: Zone | undefined): void {
  keep(ZONE_KEY, zone);
  window.location.reload();
}
