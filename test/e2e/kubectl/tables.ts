/** A column begins where its title does; titles are words with single spaces between them. */
const TITLE = /\S+(?: \S+)*/g;
const AGES: ReadonlySet<string> = new Set(["AGE", "LAST SEEN", "FIRST SEEN", "CREATED AT"]);
const RECENTLY = /^(\d+s|\d+m(\d+s)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/;

/**
 * The rows of a table that kubectl printed, cells joined by ` | `, the titles first. Ages and times of what this test made
 * are written as `AGE`: they are not the same in every run. Several tables, as `get all` prints, are one list.
 */
export function rowsOf(printed: string): string[] {
  const blocks = printed.trimEnd().split(/\n\n+/);
  return blocks.flatMap((block) => {
    const [header = "", ...rows] = block.split("\n");
    const columns = [...header.matchAll(TITLE)].map(({ 0: title, index }) => ({ title, start: index }));
    const titles = columns.map(({ title }) => title);
    return [titles, ...rows.map((row) => cellsOf(row, columns))].map((cells) => cells.join(" | ").trimEnd());
  });
}

function cellsOf(row: string, columns: ReadonlyArray<{ title: string; start: number }>): string[] {
  return columns.map(({ title, start }, index) => {
    const cell = row.slice(start, columns[index + 1]?.start).trim();
    return AGES.has(title) && RECENTLY.test(cell) ? "AGE" : cell;
  });
}
