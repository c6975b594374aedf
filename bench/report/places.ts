/** The prose of the page, with places for the figures. */
export const TEMPLATE = new URL("page-template.txt", import.meta.url);
/** The figures of the page. */
export const NEWEST_RUN = new URL("newest-run.jsonl", import.meta.url);
/** The page; its pictures lie beside it. */
export const PAGE = new URL("../../docs/performance.md", import.meta.url);
