// Is loaded into an agent before the agent's own code. It shifts the agent's clock by the number of
// ms in the file $SHIFTED_CLOCK.
const { readFileSync } = require('node:fs');
const file = process.env.SHIFTED_CLOCK;
const real = Date.now;
const offset = () => {
  try {
    return Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    return 0;
  }
};
Date.now = () => real() + offset();
