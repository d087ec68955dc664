/** Above a table: how many rows it has, which columns it shows, and the file of what it shows. */
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { csvName, csvOf } from './csv.ts';
import { download } from './download.ts';
import { formatCounted } from './format.ts';
import { MenuButton } from './menu.tsx';
import type { Column } from './table-columns.ts';

interface TableBarProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  shown: ReadonlySet<string>;
  onShow: (ids: readonly string[]) => void;
  /** What the file holds: the chosen rows if there are some, else all that are loaded. */
  rows: readonly Row[];
  children: ReactNode;
}

export function TableBar<Row>({ label, columns, shown, onShow, rows, children }: TableBarProps<Row>) {
  const { owner = '', repository = '' } = useParams({ strict: false });
  const save = () => {
    const inFile = columns.filter(({ id }) => shown.has(id));
    const text = csvOf(
      inFile.map(({ head }) => head),
      rows.map((row) => inFile.map(({ value }) => value(row))),
    );
    download(csvName([owner, repository, label.toLowerCase()], Date.now()), text);
  };
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-4 py-1">
      {children}
      <MenuButton
        title="Columns and file"
        className="button ml-auto h-7 text-xs"
        groups={[
          {
            title: 'Columns',
            isMultiple: true,
            chosen: [...shown],
            items: columns.map(({ id, head }) => ({ id, label: head })),
            onChoose: (_, ids) => ids.length > 0 && onShow(ids),
          },
          {
            title: 'File',
            items: [
              {
                id: 'csv',
                label: 'Download CSV',
                hint: `${formatCounted(rows.length, 'row')} as they are shown`,
                isDisabled: rows.length === 0,
              },
            ],
            onChoose: save,
          },
        ]}
      >
        Columns
      </MenuButton>
    </div>
  );
}
