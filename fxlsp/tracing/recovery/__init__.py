"""The recovering pass: what torch.fx would record if it did not stop, and every reason for which it would.

``torch.fx.symbolic_trace`` ends at its first failure. Here the proxies know their values, so each failure is noted at
its expression, and the rest of the model is mapped as if nothing had happened. In: a constructed model with its inputs
(``recovering_pass``). Out: a report without a verdict, which ``merge_reports`` puts together with the plain pass's.

The parts of a pass share one :class:`.context.RecoveryContext`; they reach the tracer as a ``GraphRecorder`` alone.
"""
