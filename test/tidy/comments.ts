import ts from "typescript";
import { lineOf, nodesOf, type Source } from "./source.ts";

/** A comment with its delimiters. */
interface Comment {
  text: string;
  line: number;
}

/** Every comment of the source, in order. What looks like a comment inside a string is none. */
export function commentsOf(source: Source): Comment[] {
  const found = new Map<number, ts.CommentRange>();
  const collect = (ranges: ts.CommentRange[] | undefined) => {
    for (const range of ranges ?? []) found.set(range.pos, range);
  };
  for (const node of nodesOf(source)) {
    collect(ts.getLeadingCommentRanges(source.text, node.pos));
    // Behind the last statement of a block, and on the line of the node itself.
    collect(ts.getLeadingCommentRanges(source.text, node.end));
    collect(ts.getTrailingCommentRanges(source.text, node.end));
    // A block that holds nothing but a comment has no node to hang it on.
    if (ts.isBlock(node)) collect(ts.getLeadingCommentRanges(source.text, node.statements.pos));
    if (ts.isBlock(node)) collect(ts.getTrailingCommentRanges(source.text, node.statements.pos));
  }
  return [...found.values()]
    .sort((a, b) => a.pos - b.pos)
    .map((range) => ({ text: source.text.slice(range.pos, range.end), line: lineOf(source.ast, range.pos) }));
}
