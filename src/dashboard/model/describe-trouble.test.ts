import { expect, it } from "vitest";
import { describeTrouble } from "./describe-trouble.ts";

it.each([
  ["Forbidden", /You may not see pods: no/, /Ask for a role/],
  ["Unauthorized", /does not know you any more.*no/, /have ended: renew them\. .*open the link that it prints/],
  ["unreachable", /^pods: no$/, /tried again by itself/],
])("a question that fails as %s says what it is, and how to go on", (reason, text, mend) => {
  expect(describeTrouble({ reason, message: "no" }, "pods")).toEqual({
    text: expect.stringMatching(text),
    mend: expect.stringMatching(mend),
  });
});
