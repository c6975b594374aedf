import { expect, it } from "vitest";
import { REFUSED_VOLUME_KINDS } from "../../../src/node/storage/volumes/network/refused-volumes.ts";
import { codeIn, readTable } from "./read-tables.ts";

/** What the rows about volumes and about things that are not there name as code, in any of their columns. */
const NAMED = [
  ...readTable("differences.md", "Not in this version"),
  ...readTable("differences.md", "Volumes"),
].flatMap((row) => Object.values(row).flatMap((cell) => [...codeIn(cell), ...cell.split(/[^\w.-]+/)]));

it.each(Object.keys(REFUSED_VOLUME_KINDS))("has a row for the refused volume kind %s", (kind) => {
  expect(NAMED).toContain(kind);
});
