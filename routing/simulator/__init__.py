"""Simulated providers: real sockets that answer like OpenAI, Anthropic, Gemini and Azure, and fail on request.

```
 bytes ─► http.py ─► server.py ─► openai.py · azure.py · anthropic.py · gemini.py   (the good answer)
                        │                                        │
                  behaviour.py (which mode for this key) ─► faults.py (steps: send, pause, reset, hang …) ─► bytes
```
"""

from routing.simulator.server import Simulator

__all__ = ["Simulator"]
