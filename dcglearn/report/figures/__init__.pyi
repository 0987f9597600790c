from .measure_figures import draw_comparison as draw_comparison
from .measure_figures import draw_measure_file as draw_measure_file
from .measure_figures import draw_plan as draw_plan
from .system_figures import draw_pairs as draw_pairs
from .system_figures import draw_supported as draw_supported
